import type { EventOf } from "../protocol/events.ts";
import { failureWords, type Words, withoutMarks } from "../words/words.ts";
import { badEndIn } from "./code-call.ts";
import { formatDuration } from "./format.ts";
import { safeLine } from "./safe-text.ts";

type Result = Pick<EventOf<"call.finished">, "outcome" | "text" | "failure" | "durationMs">;
export type CallResult = {
  readonly end: "good" | "attention" | "bad";
  /** How long it took, or why it came to nothing; may be empty. */
  readonly about: string;
  /** What a person can do about it. */
  readonly next: string;
};

/** How a call ended, for a person. */
export function callResult(tool: string, { outcome, text, failure, durationMs }: Result, words: Words): CallResult {
  if (outcome === "ok") {
    const duration = durationMs === undefined ? "" : formatDuration(durationMs);
    const badEnd = badEndIn(tool, text);
    if (badEnd === undefined) return { end: "good", about: duration, next: "" };
    return { end: "attention", about: `${duration} (${safeLine(badEnd, 80)})`.trim(), next: "" };
  }
  const [what, next] = whyNot(text, failure, words);
  const state = words.terminal.turn.outcome[outcome];
  return { end: "bad", about: `(${state}) ${safeLine(what, 160)}`, next: safeLine(next, 400) };
}

/** What a person can do is said where the model can do nothing about it. */
function whyNot(text: string, failure: Result["failure"], words: Words): readonly [what: string, next: string] {
  if (failure === undefined) return [reasonIn(withoutMarks(text), words), ""];
  const { youRejected } = words.terminal.turn;
  if (failure.code === "tool_rejected") return [youRejected({ why: String(failure.params.why) }), ""];
  const [what, next] = failureWords(words, failure);
  return [what, failure.code.startsWith("sandbox_") ? next : ""];
}

/** A refusal that was written for the model begins with its code. */
function reasonIn(text: string, { terminal }: Words): string {
  const reasons: Readonly<Record<string, string>> = terminal.turn.refusal;
  const code = /^Error: (\w+):/.exec(text)?.[1] ?? "";
  return Object.hasOwn(reasons, code) ? (reasons[code] ?? text) : text;
}
