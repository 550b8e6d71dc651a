import type { EventOf, LogEvent } from "../../protocol/events.ts";
import type { Finish, Usage } from "../../protocol/message.ts";
import type { TurnFrame, TurnRest } from "../chat/follow-message.ts";
import { noteDecision, type OpenDecisions } from "../chat/open-decisions.ts";
import { openTrack } from "./track.ts";

/** What a caller gets of a turn. The agent's own tools run here and stay unseen. */
export type Piece =
  /** Its first: when it began. */
  | { readonly piece: "begin"; readonly at: number }
  /** `part` counts up where something new begins: the next step's words, or those of a second try. */
  | { readonly piece: "text" | "reasoning"; readonly part: number; readonly text: string }
  | { readonly piece: "ping" }
  | ({ readonly piece: "end" } & End);

/** How it ended, as far as this answer goes. */
export type End = Ledger & {
  readonly state: TurnRest;
  readonly at: number;
  /** What waits: functions of the caller, and what people are asked. */
  readonly open: readonly Asked[];
};

type Ledger = {
  /** Why the model's last words ended. */
  readonly finish: Finish;
  readonly usage: Usage;
  readonly failure: EventOf<"turn.finished">["failure"];
  /** What the model's server said when it last refused. */
  readonly retryAfterMs: number | undefined;
};

type Asked = EventOf<"decision.asked">;

/** Where in its turn an answer begins: with it, after a decision was made, or after a place in the log. */
export type Since = string | number | undefined;

/** Folds the frames of a turn into pieces. `note` says what waits for a person, where nothing else can go on. */
export function openPieces(since: Since, note: (open: readonly Asked[]) => string) {
  const parts = { count: 0 };
  const tracks = { text: openTrack(parts), reasoning: openTrack(parts) };
  const open: OpenDecisions = new Map();
  let ledger: Ledger = { finish: "stop", usage: { input: 0, output: 0 }, failure: undefined, retryAfterMs: undefined };
  let isOurs = false;
  let attempt = 0;
  let at = 0;

  function begun(): Piece[] {
    isOurs = true;
    return [{ piece: "begin", at }];
  }

  function words(kind: keyof typeof tracks, ...said: Parameters<(typeof tracks)["text"]["add"]>): Piece[] {
    const added = tracks[kind].add(...said);
    return added === undefined ? [] : [{ piece: kind, ...added }];
  }

  function takeOurs(event: LogEvent): Piece[] {
    ledger = ledgerAfter(ledger, event);
    if (event.type === "step.started") ({ attempt } = event);
    if (event.type !== "message.assistant") return [];
    const place = { step: event.step, attempt, offset: 0, isWhole: true };
    return [...words("reasoning", place, event.reasoning ?? ""), ...words("text", place, event.text)];
  }

  function takeEvent(event: LogEvent): Piece[] {
    noteDecision(open, event);
    ({ at } = event);
    if (isOurs) return takeOurs(event);
    if (typeof since === "number") return event.seq > since ? [...begun(), ...takeOurs(event)] : [];
    const isFirst = since === undefined ? event.type === "message.user" : isMade(event, since);
    return isFirst ? begun() : [];
  }

  function ended(state: TurnRest): Piece[] {
    const waiting = [...open.values()];
    const forPeople = state === "waiting" ? waiting.filter(({ kind }) => kind !== "function") : [];
    const first = isOurs ? [] : begun();
    if (forPeople.length > 0) first.push({ piece: "text", part: parts.count + 1, text: note(forPeople) });
    return [...first, { piece: "end", ...ledger, state, at, open: waiting }];
  }

  return {
    ended,
    takeEvent,
    take(frame: TurnFrame): Piece[] {
      switch (frame.frame) {
        case "event":
          return takeEvent(frame.event);
        case "delta":
          return isOurs ? words(frame.kind, frame, frame.text) : [];
        case "ping":
          return [{ piece: "ping" }];
        case "rest":
          if (frame.behind !== undefined) noteDecision(open, frame.behind);
          return ended(frame.state);
      }
    },
  };
}

function ledgerAfter(ledger: Ledger, event: LogEvent): Ledger {
  switch (event.type) {
    case "message.assistant":
      return { ...ledger, finish: event.finish, usage: sum(ledger.usage, event.usage) };
    case "compacted":
      return event.usage === undefined ? ledger : { ...ledger, usage: sum(ledger.usage, event.usage) };
    case "step.failed":
      return { ...ledger, retryAfterMs: event.retryAfterMs };
    case "turn.finished":
      return { ...ledger, failure: event.failure };
    default:
      return ledger;
  }
}

function sum(one: Usage, other: Usage): Usage {
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cachedInput: (one.cachedInput ?? 0) + (other.cachedInput ?? 0),
    reasoning: (one.reasoning ?? 0) + (other.reasoning ?? 0),
  };
}

function isMade(event: LogEvent, id: string): boolean {
  return event.type === "decision.made" && event.id === id;
}
