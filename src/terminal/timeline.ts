import type { EventOf, LogEvent, TurnOutcome } from "../protocol/events.ts";
import type { Usage } from "../protocol/message.ts";

/** Something that took time in a turn. */
export type Span =
  | { readonly kind: "step"; readonly at: number; ms?: number; step: number; model: string; usage?: Usage }
  | { readonly kind: "failed"; readonly at: number; ms?: number; readonly code: string }
  | { readonly kind: "call"; readonly at: number; ms?: number; readonly name: string; outcome?: string }
  | { readonly kind: "wait"; readonly at: number; ms?: number; readonly tool: string }
  | { readonly kind: "compaction"; readonly at: number; ms?: number };

export type Turn = {
  readonly turn: number;
  readonly at: number;
  endAt?: number;
  /** The place of its end in the log; undefined while it runs. */
  endSeq?: number;
  outcome?: TurnOutcome;
  readonly spans: Span[];
};

/** The turns of the main agent that stand, oldest first: what was gone back behind is left out. */
export function turnsOf(events: readonly LogEvent[]): readonly Turn[] {
  let turns: (Turn & { readonly seq: number })[] = [];
  const open = new OpenSpans();
  for (const event of events) {
    if (event.type === "rewound") turns = turns.filter(({ seq }) => seq <= event.to);
    if ("agent" in event && event.agent !== undefined) continue;
    if (event.type === "turn.started") turns.push({ turn: event.turn, at: event.at, seq: event.seq, spans: [] });
    const turn = turns.at(-1);
    if (turn === undefined) continue;
    open.take(event, turn);
    if (event.type !== "turn.finished" || turn.turn !== event.turn) continue;
    Object.assign(turn, { endAt: event.at, endSeq: event.seq, outcome: event.outcome });
  }
  return turns;
}

/** What has begun and not ended, by what will end it. */
class OpenSpans {
  readonly #names = new Map<string, string>();
  readonly #calls = new Map<string, Span>();
  readonly #waits = new Map<string, Span>();
  #step: Extract<Span, { kind: "step" }> | undefined;
  #compaction: Span | undefined;

  take(event: LogEvent, { spans }: Turn): void {
    if (event.type === "step.started") spans.push(this.#beginStep(event));
    if (event.type === "message.assistant") this.#endStep(event);
    if (event.type === "step.failed") {
      end(this.#step, event);
      spans.push({ kind: "failed", at: event.at, ms: 0, code: event.failure.code });
    }
    if (event.type === "call.started") spans.push(this.#beginCall(event));
    if (event.type === "call.finished") {
      const call = end(this.#calls.get(event.call), event);
      if (call?.kind === "call") call.outcome = event.outcome;
    }
    if (event.type === "decision.asked" && event.layer !== "always") {
      const wait: Span = { kind: "wait", at: event.at, tool: event.tool };
      this.#waits.set(event.id, wait);
      spans.push(wait);
    }
    if (event.type === "decision.made") end(this.#waits.get(event.id), event);
    if (event.type === "compaction.started") {
      this.#compaction = { kind: "compaction", at: event.at };
      spans.push(this.#compaction);
    }
    if (event.type === "compacted") end(this.#compaction, event);
  }

  #beginStep(event: EventOf<"step.started">): Span {
    this.#step = { kind: "step", at: event.at, step: event.step, model: event.model };
    return this.#step;
  }

  #endStep(event: EventOf<"message.assistant">): void {
    for (const { id, name } of event.calls ?? []) this.#names.set(id, name);
    end(this.#step, event);
    if (this.#step !== undefined) this.#step.usage = event.usage;
  }

  #beginCall(event: EventOf<"call.started">): Span {
    const call: Span = { kind: "call", at: event.at, name: this.#names.get(event.call) ?? "?" };
    this.#calls.set(event.call, call);
    return call;
  }
}

function end(span: Span | undefined, { at }: { readonly at: number }): Span | undefined {
  if (span !== undefined && span.ms === undefined) span.ms = Math.max(0, at - span.at);
  return span;
}
