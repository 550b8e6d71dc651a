import { derivedHex } from "../../base/ids.ts";
import type { Profile } from "../profile.ts";
import type { ModelRequest } from "../provider.ts";
import type { Fields } from "../wire/adapt.ts";
import type { SentTools } from "../wire/sent-tools.ts";
import { wireName } from "../wire/tool-names.ts";
import type { Transcript } from "../wire/transcript.ts";

const cacheKeyCharactersMax = 64;
const outputTokensMin = 16;

/** Everything but the model and what was said. */
export function requestFields(request: ModelRequest, profile: Profile, sent: SentTools): Fields {
  const { maxOutputTokens, temperature, cacheKey } = request;
  return {
    stream: request.stream,
    store: false,
    ...reasoningFields(request, profile),
    ...(maxOutputTokens === undefined ? {} : { max_output_tokens: Math.max(maxOutputTokens, outputTokensMin) }),
    ...(temperature === undefined || !profile.sampling ? {} : { temperature }),
    ...(sent.json === "" ? {} : toolFields(request, profile, sent)),
    ...(cacheKey === undefined ? {} : { prompt_cache_key: fittingKey(cacheKey) }),
  };
}

/** A model that reasons is asked for a summary that people can read, and for the sealed form that goes back. */
function reasoningFields({ thinking }: ModelRequest, profile: Profile): Fields {
  if (profile.thinkingSwitch !== "reasoning_effort") return {};
  const effort = thinking === true ? "medium" : thinking === false ? "none" : thinking;
  return {
    include: ["reasoning.encrypted_content"],
    reasoning: { ...(effort === undefined ? {} : { effort }), summary: "auto" },
  };
}

function toolFields(request: ModelRequest, profile: Profile, sent: SentTools): Fields {
  const choice = toolChoice(request.toolChoice, profile, sent);
  const { parallelToolCalls } = request;
  return {
    tools: sent.json,
    ...(choice === undefined ? {} : { tool_choice: choice }),
    ...(parallelToolCalls === undefined || !profile.parallelToolCalls
      ? {}
      : { parallel_tool_calls: parallelToolCalls }),
  };
}

function toolChoice(choice: ModelRequest["toolChoice"], profile: Profile, sent: SentTools): unknown {
  if (choice === undefined || choice === "auto" || choice === "none") return choice;
  if (!profile.forcedToolChoice) return undefined;
  if (choice === "required") return choice;
  return sent.byName.has(choice.tool) ? { type: "function", name: wireName(choice.tool) } : undefined;
}

function fittingKey(key: string): string {
  return key.length <= cacheKeyCharactersMax ? key : derivedHex(32, key);
}

/** What was said stands in front, so that a longer conversation begins with the bytes of a shorter one. */
export function requestBody(model: string, { json }: Transcript, { tools, ...fields }: Fields): string {
  const rest = JSON.stringify(fields).slice(1, -1);
  const told = tools === undefined ? "" : `"tools":${tools},`;
  return `{"model":${JSON.stringify(model)},"input":[${json}],${told}${rest}}`;
}
