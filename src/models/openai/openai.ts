import type { ModelProvider } from "../provider.ts";
import type { Adaptable } from "../wire/adapt.ts";
import { openWire, routeUrl, type WireOptions } from "../wire/wire.ts";
import { chatAnswer } from "./answer.ts";
import { chatMessages } from "./messages.ts";
import { requestBody, requestFields, writeTool } from "./request.ts";

/** Chat completions as OpenAI defined them and others changed them. The profile says what this server does otherwise. */
export function openAiCompatible(options: WireOptions): ModelProvider {
  const { baseUrl, apiKey, model, profile } = options.endpoint;
  const url = routeUrl(baseUrl, "/chat/completions");
  return openWire(
    {
      url: () => url,
      headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
      messages: chatMessages(profile),
      writeTool: (tool) => writeTool(tool, profile),
      fields: (request, sent) => requestFields(request, profile, sent),
      body: (transcript, fields) => requestBody(model, transcript, fields),
      answer: chatAnswer,
      adaptable,
    },
    options,
  );
}

export const adaptable: Adaptable = {
  dispensable: [
    ...["temperature", "stream_options", "parallel_tool_calls", "tool_choice"],
    ...["reasoning_effort", "enable_thinking", "thinking", "prompt_cache_key"],
  ],
  // A server that refuses one of the two names takes the other.
  limits: new Map([
    ["max_tokens", "max_completion_tokens"],
    ["max_completion_tokens", "max_tokens"],
  ]),
};
