import type { LogEvent, TurnOutcome } from "../../protocol/events.ts";
import { type Attempt, attemptAfter } from "../attempt.ts";
import { askedBy, isOthers, noteDecision, type OpenDecisions } from "./open-decisions.ts";

/** What ends a turn for good, or the wait for it. */
export type TurnEnd = "withdrawn" | "deleted" | TurnOutcome;

/** Tells the events of one message's turn from the others, in the order of the log. */
export class OwnEvents {
  readonly #id: string;
  #turn: number | undefined;
  /** Where the message stands; undefined when it was left behind by a way back. */
  #seq: number | undefined;
  #attempt: Attempt | undefined;
  #ended: TurnEnd | undefined;
  readonly #calls = new Set<string>();
  readonly #asked = new Set<string>();
  readonly #open: OpenDecisions = new Map();

  constructor(message: string) {
    this.#id = message;
  }

  /** Those of these events that are its own, up to the end of the turn. */
  take(events: readonly LogEvent[]): LogEvent[] {
    const own: LogEvent[] = [];
    for (const event of events) {
      this.#place(event);
      if (!this.#isOwn(event)) continue;
      this.#note(event);
      own.push(event);
      if (this.#ended !== undefined) break;
    }
    return own;
  }

  get ended(): TurnEnd | undefined {
    return this.#ended;
  }

  /** It was taken out of the history and not said again. */
  get isLost(): boolean {
    return this.#seq === undefined;
  }

  get isStarted(): boolean {
    return this.#turn !== undefined;
  }

  /** The answer that is being written. */
  get attempt(): Attempt | undefined {
    return this.#attempt;
  }

  /** A decision is open, and no answer is being written. */
  get isAsking(): boolean {
    return this.#open.size > 0 && this.#attempt === undefined;
  }

  /** What can make the next events ours, or no longer ours. */
  #place(event: LogEvent): void {
    if (event.type === "message.user" && event.id === this.#id) this.#seq = event.seq;
    // A message that waited is said again after the way back.
    if (event.type === "rewound" && event.to < (this.#seq ?? 0)) this.#seq = undefined;
    if (event.type === "turn.started" && event.message === this.#id) this.#turn = event.turn;
    if (event.type === "step.started" && event.joined?.includes(this.#id)) this.#turn = event.turn;
  }

  #isOwn(event: LogEvent): boolean {
    if (isOthers(event)) return false;
    // Other agents count their own turns.
    if (event.type === "decision.asked" && event.agent !== undefined) return this.isStarted;
    switch (event.type) {
      case "message.user":
      case "message.withdrawn":
        return event.id === this.#id;
      case "decision.made":
        return this.#asked.has(event.id);
      case "agent.ended":
        return askedBy(this.#open, event.id).length > 0;
      case "call.started":
      case "call.finished":
        return this.#calls.has(event.call);
      case "todo.set":
        return this.isStarted;
      case "file.changed":
        return event.call !== undefined && this.#calls.has(event.call);
      case "conversation.deleted":
        return true;
      default:
        return "turn" in event && event.turn === this.#turn;
    }
  }

  #note(event: LogEvent): void {
    this.#attempt = attemptAfter(this.#attempt, event);
    if (event.type === "message.assistant") for (const call of event.calls ?? []) this.#calls.add(call.id);
    if (event.type === "decision.asked") this.#asked.add(event.id);
    noteDecision(this.#open, event);
    if (event.type === "message.withdrawn") this.#ended = "withdrawn";
    if (event.type === "conversation.deleted") this.#ended = "deleted";
    if (event.type === "turn.finished") this.#ended = event.outcome;
  }
}
