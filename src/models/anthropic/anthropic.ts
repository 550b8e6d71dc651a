import { keyHeaders } from "../key-headers.ts";
import type { ModelProvider } from "../provider.ts";
import type { Adaptable } from "../wire/adapt.ts";
import { openWire, type WireOptions } from "../wire/wire.ts";
import { anthropicAnswer } from "./answer.ts";
import { anthropicMessages } from "./messages.ts";
import { requestBody, requestFields, writeTool } from "./request.ts";

/** Anthropic's own messages API, and servers that speak it as well. */
export function anthropic(options: WireOptions): ModelProvider {
  const { baseUrl, apiKey, model, profile } = options.endpoint;
  const origin = { api: "anthropic", model };
  const url = messagesUrl(baseUrl);
  return openWire(
    {
      url: () => url,
      headers: keyHeaders("anthropic", url, apiKey),
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
