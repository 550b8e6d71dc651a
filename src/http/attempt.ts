import type { LogEvent } from "../protocol/events.ts";

// A fold of events that stands with the streams and not in log/: nobody but them asks whose the running text is.

/** One try at one answer; the text of the running answer belongs to it. */
export type Attempt = { readonly turn: number; readonly step: number; readonly attempt: number };

/** The answers that other agents than the main one are writing. */
export type Attempts = Map<string, Attempt>;

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
  return "agent" in event && event.agent !== undefined ? open : ownAttemptAfter(open, event);
}

function ownAttemptAfter(open: Attempt | undefined, event: LogEvent): Attempt | undefined {
  if (event.type === "step.started") return { turn: event.turn, step: event.step, attempt: event.attempt };
  return endings.has(event.type) ? undefined : open;
}

/** The same for the others; they end with the turn of the main one. */
export function noteAttempt(open: Attempts, event: LogEvent): void {
  const agent = "agent" in event ? event.agent : undefined;
  if (agent === undefined) {
    if (event.type === "turn.finished" || event.type === "rewound") open.clear();
    return;
  }
  const attempt = ownAttemptAfter(open.get(agent), event);
  if (attempt === undefined) open.delete(agent);
  else open.set(agent, attempt);
}

export function isSameAttempt(one: Attempt, other: Attempt): boolean {
  return one.turn === other.turn && one.step === other.step && one.attempt === other.attempt;
}
