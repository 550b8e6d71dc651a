import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { ModelAnswer } from "../../src/models/provider.ts";
import type { Expect } from "./quirk-data.ts";

/** The deltas in the order they were delivered. */
export type Delivered = { text: string; reasoning: string };

/** Where an answer is not what the entry expects; empty when it is. */
export function checkAnswer(answer: ModelAnswer, delivered: Delivered, expect: Expect): string[] {
  return [
    ...differs("text", answer.text, expect.text ?? answer.text),
    ...checkDigest(answer.text, expect),
    ...differs("reasoning", answer.reasoning, expect.reasoning),
    ...differs("deltas", delivered, { text: answer.text, reasoning: answer.reasoning }),
    ...differs("finish", answer.finish, expect.finish),
    ...checkCalls(answer, expect),
    ...checkUsage(answer, expect),
    ...checkError(answer, expect),
    ...(expect.keepForReplay ?? []).flatMap((field) => (isKept(answer, field) ? [] : [`${field} was not kept`])),
  ];
}

function differs(what: string, actual: unknown, expected: unknown): string[] {
  if (isDeepStrictEqual(actual, expected)) return [];
  return [`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`];
}

function checkDigest(text: string, { textDigest }: Expect): string[] {
  if (textDigest === undefined) return [];
  const sha256 = createHash("sha256").update(text).digest("hex");
  return differs("textDigest", { sha256, utf16Length: text.length }, textDigest);
}

function checkCalls({ toolCalls }: ModelAnswer, expect: Expect): string[] {
  const ids = toolCalls.map((call) => call.id);
  const isEachUnique = new Set(ids).size === ids.length && !ids.includes("");
  const actual = toolCalls.map((call, index) => ({
    ...(expect.toolCalls[index]?.id === undefined ? {} : { id: call.id }),
    name: call.name,
    ...(call.invalid ? { invalid: true, raw: call.arguments } : { arguments: JSON.parse(call.arguments) }),
  }));
  return [...differs("toolCalls", actual, expect.toolCalls), ...(isEachUnique ? [] : ["an id is empty or used twice"])];
}

function checkUsage({ usage, usageEstimated }: ModelAnswer, expect: Expect): string[] {
  if (expect.usageEstimated) return differs("usageEstimated", usageEstimated, true);
  return [...differs("usage", usage, expect.usage), ...differs("usageEstimated", usageEstimated, undefined)];
}

function checkError({ error }: ModelAnswer, { error: expected }: Expect): string[] {
  if (error === undefined || expected === undefined) return differs("error", error, expected);
  const kinds = [expected.kind, ...(expected.alsoKind ?? [])];
  // Another accepted kind brings its own idea of what may be tried again.
  const isOtherKind = error.kind !== expected.kind;
  const { retryAfterMs: wait } = error;
  const isWaitRight =
    expected.retryAfterMs === undefined
      ? !("retryAfterMs" in error)
      : wait !== undefined && Math.abs(wait - expected.retryAfterMs) <= expected.toleranceMs;
  return [
    ...(kinds.includes(error.kind) ? [] : [`error.kind: ${error.kind} instead of ${kinds.join(" or ")}`]),
    ...(isOtherKind ? [] : differs("error.retryable", error.retryable, expected.retryable)),
    ...(isWaitRight ? [] : [`error.retryAfterMs: ${wait} instead of ${expected.retryAfterMs}`]),
  ];
}

function isKept({ reasoningDetails, toolCalls }: ModelAnswer, field: string): boolean {
  if (field === "reasoning_details") return (reasoningDetails ?? []).length > 0;
  return toolCalls.some((call) => call.extra !== undefined && field in call.extra);
}
