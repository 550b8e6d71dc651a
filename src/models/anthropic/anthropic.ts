import type { Endpoint, ModelProvider } from "../provider.ts";
import type { Adaptable } from "../wire/adapt.ts";
import { openWire, type WireOptions } from "../wire/wire.ts";
import { anthropicAnswer } from "./answer.ts";
import { anthropicMessages } from "./messages.ts";
import { requestBody, requestFields, writeTool } from "./request.ts";

/** Anthropic's own messages API, and servers that speak it as well. */
export function anthropic(options: WireOptions): ModelProvider {
  const { baseUrl, model, profile } = options.endpoint;
  const origin = { api: "anthropic", model };
  const url = messagesUrl(baseUrl);
  return openWire(
    {
      url: () => url,
      headers: { "anthropic-version": "2023-06-01", ...keyHeaders(url, options.endpoint) },
      messages: anthropicMessages(origin),
      writeTool: (tool) => writeTool(tool, profile),
      fields: (request, sent) => requestFields(request, profile, sent),
      body: (transcript, fields) => requestBody(model, transcript, fields),
      answer: anthropicAnswer(origin),
      adaptable,
    },
    options,
  );
}

const adaptable: Adaptable = {
  dispensable: ["temperature", "tool_choice", "output_config", "thinking"],
  limits: new Map([["max_tokens", undefined]]),
};

/** Other programs write this address without the version. */
function messagesUrl(baseUrl: string): URL {
  const url = new URL(baseUrl);
  const path = url.pathname.replace(/\/+$/, "");
  const missing = path.endsWith("/messages") ? "" : /\/v\d+$/.test(path) ? "/messages" : "/v1/messages";
  url.pathname = path + missing;
  return url;
}

/** The vendor takes one header only; others that speak its API look into either. */
function keyHeaders({ hostname }: URL, { apiKey }: Endpoint): Record<string, string> {
  if (!apiKey) return {};
  const isVendor = /(^|\.)anthropic\.com$/.test(hostname);
  return { "x-api-key": apiKey, ...(isVendor ? {} : { authorization: `Bearer ${apiKey}` }) };
}
