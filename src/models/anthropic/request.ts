import type { ToolDescription } from "../../protocol/message.ts";
import type { Profile } from "../profile.ts";
import type { ModelRequest } from "../provider.ts";
import type { Fields } from "../wire/adapt.ts";
import { toolSchema } from "../wire/schema.ts";
import type { SentTools } from "../wire/sent-tools.ts";
import { wireName } from "../wire/tool-names.ts";
import type { Transcript } from "../wire/transcript.ts";

/** This format has no answer without a limit. */
const outputTokensDefault = 8_192;
const budgetTokensMin = 1_024;

export function writeTool(tool: ToolDescription, profile: Profile): object {
  return {
    name: wireName(tool.name),
    ...(tool.description === undefined ? {} : { description: tool.description }),
    input_schema: toolSchema(tool, profile.schemaDialect).parameters,
  };
}

export function requestFields(request: ModelRequest, profile: Profile, sent: SentTools): Fields {
  const maxTokens = request.maxOutputTokens ?? outputTokensDefault;
  const choice = sent.json === "" ? undefined : toolChoice(request, profile, sent);
  const thinking = thinkingFields(request, profile, { maxTokens, isForced: choice?.isForced === true });
  const { temperature } = request;
  return {
    stream: request.stream,
    max_tokens: maxTokens,
    ...thinking,
    // Beside thinking only the server's own is taken.
    ...(temperature === undefined || !profile.sampling || "thinking" in thinking ? {} : { temperature }),
    ...(sent.json === "" ? {} : { tools: sent.json }),
    ...(choice === undefined ? {} : { tool_choice: choice.value }),
  };
}

function toolChoice(
  { toolChoice: wanted = "auto", parallelToolCalls }: ModelRequest,
  profile: Profile,
  sent: SentTools,
): { readonly value: object; readonly isForced: boolean } | undefined {
  if (wanted === "none") return { value: { type: "none" }, isForced: false };
  const single = parallelToolCalls === false && profile.parallelToolCalls ? { disable_parallel_tool_use: true } : {};
  const isForced = wanted !== "auto" && profile.forcedToolChoice;
  if (isForced && wanted === "required") return { value: { type: "any", ...single }, isForced };
  if (isForced && typeof wanted === "object" && sent.byName.has(wanted.tool))
    return { value: { type: "tool", name: wireName(wanted.tool), ...single }, isForced };
  return "disable_parallel_tool_use" in single ? { value: { type: "auto", ...single }, isForced: false } : undefined;
}

/**
 * From 4.6 on the model decides itself how much to think, within an effort; before, thinking is bought by a number of
 * tokens, and not beside a forced tool.
 */
function thinkingFields(
  { thinking }: ModelRequest,
  { thinkingSwitch }: Profile,
  { maxTokens, isForced }: { readonly maxTokens: number; readonly isForced: boolean },
): Fields {
  if (thinking === false || thinking === "none") return {};
  // Newer models return thoughts only when they are asked to.
  if (thinkingSwitch === "adaptive")
    return {
      thinking: { type: "adaptive", display: "summarized" },
      ...(typeof thinking === "string" ? { output_config: { effort: thinking } } : {}),
    };
  if (thinkingSwitch !== "budget" || thinking === undefined || isForced) return {};
  const wanted = (typeof thinking === "string" ? budgets.get(thinking) : undefined) ?? 8_192;
  const budget = Math.min(wanted, maxTokens - budgetTokensMin);
  return budget < budgetTokensMin ? {} : { thinking: { type: "enabled", budget_tokens: budget } };
}

const budgets: ReadonlyMap<string, number> = new Map([
  ["low", 2_048],
  ["medium", 8_192],
  ["high", 16_384],
  ["xhigh", 24_576],
  ["max", 24_576],
]);

/** The body. What is cached by the server comes in the order in which it reads: tools, system, messages. */
export function requestBody(model: string, transcript: Transcript, { tools, ...fields }: Fields): string {
  let body = `{"model":${JSON.stringify(model)}`;
  if (tools !== undefined) body += `,"tools":${marked(tools, "]")}`;
  if (transcript.system !== "") body += `,"system":[${marked(transcript.system, "")}]`;
  body += `,"messages":[${withMarks(transcript)}]`;
  for (const [name, value] of Object.entries(fields)) body += `,${JSON.stringify(name)}:${JSON.stringify(value)}`;
  return `${body}}`;
}

const mark = ',"cache_control":{"type":"ephemeral"}';

/** The same with a mark on the last block, which is followed by these characters only: up to here a server may cache. */
function marked(json: string, behind: string): string {
  const end = json.length - behind.length - 1;
  return `${json.slice(0, end)}${mark}${json.slice(end)}`;
}

/**
 * Marks at the last message and at the one that ended the request before. From a mark the server looks back 20 blocks for
 * what it has cached, and one answer with many calls may have more. With those on tools and system they are the four that
 * a request may have. They are no part of the messages: as they move, what was sent before stays what it was.
 */
function withMarks({ json, ends }: Transcript): string {
  if (json === "") return json;
  const answer = ends.findLastIndex((_, index) => json.startsWith('{"role":"assistant"', startOf(ends, index)));
  const before = answer <= 0 ? 0 : (ends[answer - 1] ?? 0);
  const isUserBefore = before > 0 && json.startsWith('{"role":"user"', startOf(ends, answer - 1));
  return (
    (isUserBefore ? marked(json.slice(0, before), "]}") : json.slice(0, before)) + marked(json.slice(before), "]}")
  );
}

function startOf(ends: readonly number[], index: number): number {
  const end = ends[index - 1] ?? 0;
  return end === 0 ? 0 : end + 1;
}
