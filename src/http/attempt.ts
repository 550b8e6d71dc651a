import type { LogEvent } from "../protocol/events.ts";

/** One try at one answer; the text of the running answer belongs to it. */
export type Attempt = { readonly turn: number; readonly step: number; readonly attempt: number };

const endings: ReadonlySet<LogEvent["type"]> = new Set<LogEvent["type"]>([
  "message.assistant",
  "step.failed",
  "turn.finished",
  "turn.recovered",
  "rewound",
]);

/**
 * Which answer the main agent is writing after this event. Text is shown between the start of its attempt and its end,
 * so a reader never gets text of a step it has not heard of, nor of one whose whole answer it has.
 */
export function attemptAfter(open: Attempt | undefined, event: LogEvent): Attempt | undefined {
  if ("agent" in event && event.agent !== undefined) return open;
  if (event.type === "step.started") return { turn: event.turn, step: event.step, attempt: event.attempt };
  return endings.has(event.type) ? undefined : open;
}

export function isSameAttempt(one: Attempt, other: Attempt): boolean {
  return one.turn === other.turn && one.step === other.step && one.attempt === other.attempt;
}
