import type { ModelProvider } from "../provider.ts";
import type { Adaptable } from "../wire/adapt.ts";
import { openWire, routeUrl, type WireOptions } from "../wire/wire.ts";
import { responsesAnswer } from "./answer.ts";
import { responsesMessages } from "./messages.ts";
import { requestBody, requestFields } from "./request.ts";
import { writeTool } from "./tools.ts";

/**
 * OpenAI's Responses. Nothing is stored there: each request brings the whole conversation, with the reasoning of earlier
 * answers in the sealed form that only the server can read.
 */
export function openAiResponses(options: WireOptions): ModelProvider {
  const { baseUrl, apiKey, model, profile } = options.endpoint;
  const origin = { api: "responses", model };
  const url = routeUrl(baseUrl, "/responses");
  return openWire(
    {
      url: () => url,
      headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
      messages: responsesMessages(profile, origin),
      writeTool: (tool) => writeTool(tool, profile),
      fields: (request, sent) => requestFields(request, profile, sent),
      body: (transcript, fields) => requestBody(model, transcript, fields),
      answer: responsesAnswer(origin),
      adaptable,
    },
    options,
  );
}

const adaptable: Adaptable = {
  // Who is not verified gets no summaries of the reasoning; models that do not reason know neither it nor its sealed form.
  dispensable: ["temperature", "tool_choice", "parallel_tool_calls", "prompt_cache_key", "reasoning", "include"],
  limits: new Map([["max_output_tokens", undefined]]),
};
