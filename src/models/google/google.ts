import type { ModelProvider } from "../provider.ts";
import type { Adaptable } from "../wire/adapt.ts";
import { openWire, type WireOptions } from "../wire/wire.ts";
import { googleAnswer } from "./answer.ts";
import { googleMessages } from "./messages.ts";
import { requestBody, requestFields } from "./request.ts";
import { writeTool } from "./tools.ts";

/** Google's own API, `generateContent` and `streamGenerateContent`. */
export function googleGemini(options: WireOptions): ModelProvider {
  const { baseUrl, apiKey, model, profile } = options.endpoint;
  const origin = { api: "google", model };
  const urls = { whole: methodUrl(baseUrl, model, "generateContent"), stream: streamUrl(baseUrl, model) };
  return openWire(
    {
      url: (isStream) => (isStream ? urls.stream : urls.whole),
      headers: apiKey ? { "x-goog-api-key": apiKey } : {},
      messages: googleMessages(origin),
      writeTool,
      fields: (request, sent) => requestFields(request, { profile, model, sent }),
      body: requestBody,
      answer: googleAnswer(origin),
      adaptable,
    },
    options,
  );
}

const adaptable: Adaptable = {
  dispensable: ["temperature", "thinkingConfig", "toolConfig"],
  limits: new Map([["maxOutputTokens", undefined]]),
};

/** The model stands in the path; so does the version, where the base URL leaves it out. */
function methodUrl(baseUrl: string, model: string, method: string): URL {
  const url = new URL(baseUrl);
  const path = url.pathname.replace(/\/+$/, "") || "/v1beta";
  const name = model.includes("/") ? model : `models/${model}`;
  url.pathname = `${path}/${name}:${method}`;
  return url;
}

function streamUrl(baseUrl: string, model: string): URL {
  const url = methodUrl(baseUrl, model, "streamGenerateContent");
  url.searchParams.set("alt", "sse");
  return url;
}
