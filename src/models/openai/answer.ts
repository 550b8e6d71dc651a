import { parsedJson } from "../../base/json.ts";
import type { Finish, ToolCall } from "../../protocol/message.ts";
import { estimateTokens } from "../estimate.ts";
import type { Profile } from "../profile.ts";
import type { DeltaSink, ModelAnswer } from "../provider.ts";
import { addDetails, readContent } from "./content.ts";
import { type ErrorFacts, errorFacts } from "./error-body.ts";
import { failure, type Verdict } from "./errors.ts";
import { type FinishMeaning, finishMeaning } from "./finish.ts";
import { isObject, type JsonObject } from "./json.ts";
import { withoutAddedNulls } from "./schema.ts";
import type { SentTools } from "./sent-tools.ts";
import { callsMax, createCallAssembler } from "./tool-calls.ts";
import { createUsageMeter } from "./usage.ts";
import { createVoice } from "./voice.ts";

export interface AnswerBuilder {
  /** One event of a stream, or a whole completion. Returns the error a choice carries, if it does. */
  take(payload: JsonObject): ErrorFacts | undefined;
  /** A finish reason was seen: what is here is a whole answer, however the connection ends. */
  isFinished(): boolean;
  /** It asks for more calls than one answer may have: the rest of it does not matter. */
  isTooMuch(): boolean;
  /** Delivers what is still held back and makes the answer; with a verdict, an answer that failed. */
  build(verdict?: Verdict): ModelAnswer;
}

export type AnswerOptions = {
  readonly profile: Profile;
  readonly sent: SentTools;
  readonly sink: DeltaSink;
  readonly makeId: () => string;
  /** Asked only where the server counts nothing. */
  readonly estimateInput: () => number;
};

/** Collects an answer from events in the order they come, and delivers text and reasoning on the way. */
export function createAnswer({ profile, sent, sink, makeId, estimateInput }: AnswerOptions): AnswerBuilder {
  const usage = createUsageMeter();
  const calls = createCallAssembler();
  const voice = createVoice(profile, sink, (name) => sent.byName.has(sent.readName(name)));
  const details: unknown[] = [];
  let hasDeltas = false;
  let finish: FinishMeaning | undefined;

  function take(payload: JsonObject): ErrorFacts | undefined {
    usage.take(payload.usage ?? (isObject(payload.x_groq) ? payload.x_groq.usage : undefined));
    if (!Array.isArray(payload.choices)) return undefined;
    for (const choice of payload.choices) {
      if (!isObject(choice) || Number(choice.index ?? 0) !== 0) continue;
      if (!payload.usage) usage.take(choice.usage);
      takeChoice(choice);
      if (isObject(choice.error)) return errorFacts(choice.error);
    }
    return undefined;
  }

  function takeChoice(choice: JsonObject): void {
    // A message at the end of a stream repeats the deltas.
    if (isObject(choice.delta)) hasDeltas = true;
    const said = choice.delta ?? (hasDeltas ? undefined : choice.message);
    if (isObject(said)) takeSaid(said);
    const isLasting = finish === "length" || finish === "content_filter";
    if (!isLasting) finish = finishMeaning(choice.finish_reason) ?? finish;
  }

  function takeSaid(said: JsonObject): void {
    voice.say(readContent(said));
    if (said.reasoning_details) addDetails(details, said.reasoning_details);
    if (said.tool_calls) for (const call of [said.tool_calls].flat()) calls.add(call);
    if (said.function_call) calls.addLegacy(said.function_call);
  }

  function build(given?: Verdict): ModelAnswer {
    for (const call of voice.end()) calls.addLegacy(call);
    const verdict = given ?? (finish === "failure" ? brokenOff : calls.isTooMany() ? tooManyCalls : undefined);
    const { text, reasoning } = voice.said();
    const toolCalls = verdict === undefined ? finishCalls(calls.finish(sent.readName, makeId), profile, sent) : [];
    const counted = usage.read();
    return {
      text,
      reasoning,
      ...(details.length > 0 ? { reasoningDetails: details } : {}),
      toolCalls,
      finish: verdict === undefined ? settle(finish, toolCalls) : verdict.isFiltered ? "content_filter" : "error",
      usage: counted ?? { input: estimateInput(), output: estimateTokens(reasoning + text + calls.written()) },
      ...(counted === undefined ? { usageEstimated: true } : {}),
      ...(verdict === undefined ? {} : { error: verdict.error }),
    };
  }

  return { take, build, isFinished: () => finish !== undefined, isTooMuch: calls.isTooMany };
}

const brokenOff: Verdict = {
  error: failure("overloaded", true, "broken_off"),
  isFiltered: false,
};

const tooManyCalls: Verdict = {
  error: failure("protocol", false, "too_many_calls", `> ${callsMax}`),
  isFiltered: false,
};

/** The finish as it really is: servers say `stop` behind calls, and `tool_calls` where there are none. */
function settle(finish: FinishMeaning | undefined, calls: readonly ToolCall[]): Finish {
  if (finish === "length" || finish === "content_filter") return finish;
  if (finish === "tool_calls") return calls.length > 0 ? "tool_calls" : "stop";
  return calls.some((call) => !call.invalid) ? "tool_calls" : "stop";
}

function finishCalls(calls: ToolCall[], profile: Profile, sent: SentTools): ToolCall[] {
  if (profile.schemaDialect !== "openai-strict") return calls;
  return calls.map((call) => {
    const declared = sent.byName.get(call.name);
    const value = parsedJson(call.arguments);
    if (declared === undefined || call.invalid || !isObject(value)) return call;
    const cleaned = withoutAddedNulls(value, declared.parameters);
    return cleaned === value ? call : { ...call, arguments: JSON.stringify(cleaned) };
  });
}
