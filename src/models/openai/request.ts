import type { ToolDescription } from "../../protocol/message.ts";
import type { Profile } from "../profile.ts";
import type { ModelRequest } from "../provider.ts";
import type { Fields } from "../wire/adapt.ts";
import { toolSchema } from "../wire/schema.ts";
import type { SentTools } from "../wire/sent-tools.ts";
import { wireName } from "../wire/tool-names.ts";
import type { Transcript } from "../wire/transcript.ts";

export function writeTool(tool: ToolDescription, profile: Profile): object {
  return {
    type: "function",
    function: {
      name: wireName(tool.name),
      ...(tool.description === undefined ? {} : { description: tool.description }),
      ...toolSchema(tool, profile.schemaDialect),
    },
  };
}

/** Nothing is sent that was not asked for: a strict server refuses even an empty list or a harmless default. */
export function requestFields(request: ModelRequest, profile: Profile, sent: SentTools): Fields {
  return {
    stream: request.stream,
    ...(request.stream && profile.streamUsage ? { stream_options: { include_usage: true } } : {}),
    ...(request.maxOutputTokens === undefined ? {} : { [profile.maxTokensField]: request.maxOutputTokens }),
    ...(request.temperature === undefined || !profile.sampling ? {} : { temperature: request.temperature }),
    ...(sent.json === "" ? {} : toolFields(request, profile, sent)),
    ...thinkingFields(request, profile, sent.json !== ""),
    ...(profile.cacheKeyField && request.cacheKey !== undefined ? { prompt_cache_key: request.cacheKey } : {}),
  };
}

function toolFields(request: ModelRequest, profile: Profile, sent: SentTools): Fields {
  const choice = wireToolChoice(request.toolChoice, profile, sent);
  return {
    tools: sent.json,
    ...(choice === undefined ? {} : { tool_choice: choice }),
    ...(request.parallelToolCalls === undefined || !profile.parallelToolCalls
      ? {}
      : { parallel_tool_calls: request.parallelToolCalls }),
  };
}

function wireToolChoice(choice: ModelRequest["toolChoice"], profile: Profile, sent: SentTools): unknown {
  if (choice === undefined || choice === "auto" || choice === "none") return choice;
  if (!profile.forcedToolChoice) return undefined;
  if (choice === "required") return choice;
  if (!sent.byName.has(choice.tool)) return undefined;
  return { type: "function", function: { name: wireName(choice.tool) } };
}

function thinkingFields(request: ModelRequest, profile: Profile, hasTools: boolean): Fields {
  if (hasTools && profile.effortWithTools === "none") return { reasoning_effort: "none" };
  const { thinking } = request;
  if (thinking === undefined) return {};
  const isOn = thinking !== false && thinking !== "none";
  switch (profile.thinkingSwitch) {
    case "none":
    case "adaptive":
    case "budget":
      return {};
    case "enable_thinking":
      return { enable_thinking: isOn };
    case "thinking-object":
      return { thinking: { type: isOn ? "enabled" : "disabled" } };
    case "reasoning_effort":
      return { reasoning_effort: typeof thinking === "string" ? thinking : isOn ? "medium" : "none" };
  }
}

/** The body. Messages stand in front, so that a longer conversation begins with the bytes of a shorter one. */
export function requestBody(model: string, { json }: Transcript, fields: Fields): string {
  let body = `{"model":${JSON.stringify(model)},"messages":[${json}]`;
  for (const [name, value] of Object.entries(fields)) {
    body += `,${JSON.stringify(name)}:${name === "tools" ? fields.tools : JSON.stringify(value)}`;
  }
  return `${body}}`;
}
