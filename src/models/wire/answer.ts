import { parsedJson } from "../../base/json.ts";
import type { Finish, ToolCall } from "../../protocol/message.ts";
import { estimateTokens } from "../estimate.ts";
import type { Profile } from "../profile.ts";
import type { DeltaSink, ModelAnswer } from "../provider.ts";
import type { ErrorFacts } from "./error-body.ts";
import { failure, type Verdict } from "./errors.ts";
import { type FinishMeaning, finishMeaning } from "./finish.ts";
import { isObject, type JsonObject } from "./json.ts";
import { withoutAddedNulls } from "./schema.ts";
import type { SentTools } from "./sent-tools.ts";
import { type CallAssembler, callsMax, createCallAssembler } from "./tool-calls.ts";
import { createUsageMeter, type UsageMeter } from "./usage.ts";
import { createVoice, type Spoken } from "./voice.ts";

/** How a format's answers are read. */
export type AnswerForm = {
  /** Whether this is a piece of an answer, and not something that came instead of one. */
  readonly isPart: (payload: JsonObject) => boolean;
  /** Opens an answer; what comes back takes its pieces in order and returns the error that one carries, if it does. */
  readonly open: (parts: AnswerParts) => (payload: JsonObject) => ErrorFacts | undefined;
};

/** Where the reader of a format puts what it finds. */
export type AnswerParts = {
  readonly usage: UsageMeter;
  readonly calls: CallAssembler;
  /** What goes back to the server with later requests. */
  readonly details: unknown[];
  readonly say: (spoken: Spoken) => void;
  /** Something of substance is there, so that what comes is an answer. */
  readonly begin: () => void;
  /** Why the model stopped, in any spelling; anything that is no reason is passed over. */
  readonly finish: (reason: unknown) => void;
  /** The format's own end was seen: nothing follows. */
  readonly complete: () => void;
};

export interface AnswerBuilder {
  isPart(payload: JsonObject): boolean;
  /** One event of a stream, or a whole document. Returns the error it carries, if it does. */
  take(payload: JsonObject): ErrorFacts | undefined;
  hasBegun(): boolean;
  /** A finish reason was seen: what is here is a whole answer, however the connection ends. */
  isFinished(): boolean;
  /** The rest does not matter: the end was seen, or it asks for more calls than one answer may have. */
  isOver(): boolean;
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
export function createAnswer(
  form: AnswerForm,
  { profile, sent, sink, makeId, estimateInput }: AnswerOptions,
): AnswerBuilder {
  const usage = createUsageMeter();
  const calls = createCallAssembler();
  const voice = createVoice(profile, sink, (name) => sent.byName.has(sent.readName(name)));
  const details: unknown[] = [];
  let finish: FinishMeaning | undefined;
  let hasBegun = false;
  let isComplete = false;

  const take = form.open({
    ...{ usage, calls, details, say: voice.say },
    begin() {
      hasBegun = true;
    },
    finish(reason) {
      const isLasting = finish === "length" || finish === "content_filter";
      if (!isLasting) finish = finishMeaning(reason) ?? finish;
    },
    complete() {
      isComplete = true;
    },
  });

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

  return {
    ...{ isPart: form.isPart, take, build },
    hasBegun: () => hasBegun,
    isFinished: () => finish !== undefined,
    isOver: () => isComplete || calls.isTooMany(),
  };
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
