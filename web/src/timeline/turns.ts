import type { CallOutcome, EventOf, LogEvent, TurnOutcome } from "../../../src/protocol/events.ts";
import type { Usage } from "../../../src/protocol/message.ts";

/** What happened in a turn of the main agent, in the order it did. */
export type TimedTurn = {
  readonly turn: number;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  readonly outcome: TurnOutcome | "running";
  readonly entries: readonly Entry[];
  readonly usage: Usage;
  readonly steps: number;
  readonly calls: number;
};

export type Entry =
  | ({ readonly kind: "model"; readonly step: number; readonly attempt: number } & Timed & ModelCall)
  | ({ readonly kind: "call"; readonly name: string; readonly outcome: CallOutcome | "running" } & Timed)
  | ({ readonly kind: "wait"; readonly tool: string } & Timed)
  | ({ readonly kind: "compacted" } & Timed);

type Timed = { readonly key: string; readonly at: number; readonly ms: number | undefined };
type ModelCall = {
  readonly model: string;
  readonly slot: string;
  readonly usage: Usage | undefined;
  readonly firstMs: number | undefined;
  /** The kind of failure it ended with. */
  readonly failed: string | undefined;
};

type Open = { -readonly [K in keyof TimedTurn]: TimedTurn[K] } & { entries: Entry[] };

/** Turns in the order of the log; the first may have begun before it. */
export function timeTurns(events: readonly LogEvent[]): TimedTurn[] {
  const turns: Open[] = [];
  const names = new Map<string, string>();
  for (const event of events) {
    if ("agent" in event && event.agent !== undefined) continue;
    if (event.type === "turn.started") turns.push(begun(event.turn, event.at));
    const turn = turns.at(-1);
    if (turn !== undefined) apply(turn, event, names);
  }
  return turns;
}

function begun(turn: number, startedAt: number): Open {
  return {
    ...{ turn, startedAt, endedAt: undefined, outcome: "running" },
    ...{ entries: [], usage: { input: 0, output: 0 }, steps: 0, calls: 0 },
  };
}

function apply(turn: Open, event: LogEvent, names: Map<string, string>): void {
  switch (event.type) {
    case "step.started":
      return startStep(turn, event);
    case "message.assistant":
      return answer(turn, event, names);
    case "step.failed":
      return endModel(turn, event, { ms: undefined, failed: event.kind });
    case "call.started":
      turn.calls += 1;
      turn.entries.push({
        ...{ kind: "call", key: `c${event.call}/${event.seq}`, name: names.get(event.call) ?? event.call },
        ...{ at: event.at, ms: undefined, outcome: "running" },
      });
      return;
    case "call.finished":
      return endCall(turn, event);
    case "decision.asked":
      turn.entries.push({ kind: "wait", key: `d${event.id}`, tool: event.tool, at: event.at, ms: undefined });
      return;
    case "decision.made":
      return change(turn, `d${event.id}`, (entry) => ({ ...entry, ms: event.at - entry.at }));
    case "compacted":
      turn.entries.push({ kind: "compacted", key: `k${event.seq}`, at: event.at, ms: undefined });
      return;
    case "turn.finished":
      turn.endedAt = event.at;
      turn.outcome = event.outcome;
      return;
    default:
  }
}

function startStep(turn: Open, { step, attempt, model, slot, at }: EventOf<"step.started">): void {
  if (attempt === 1) turn.steps += 1;
  turn.entries.push({
    ...{ kind: "model", key: stepKey(step, attempt), step, attempt, model, slot, at },
    ...{ ms: undefined, usage: undefined, firstMs: undefined, failed: undefined },
  });
}

function answer(turn: Open, event: EventOf<"message.assistant">, names: Map<string, string>): void {
  const { step, usage, durationMs, firstTokenMs, calls = [] } = event;
  for (const { id, name } of calls) names.set(id, name);
  const last = turn.entries.findLast((entry) => entry.kind === "model" && entry.step === step);
  if (last !== undefined)
    change(turn, last.key, (entry) => ({ ...entry, ms: durationMs, ...{ usage, firstMs: firstTokenMs } }));
  const cached = (turn.usage.cachedInput ?? 0) + (usage.cachedInput ?? 0);
  turn.usage = {
    input: turn.usage.input + usage.input,
    output: turn.usage.output + usage.output,
    ...(cached > 0 && { cachedInput: cached }),
  };
}

function endModel(turn: Open, event: EventOf<"step.failed">, end: { ms: undefined; failed: string }): void {
  change(turn, stepKey(event.step, event.attempt), (entry) => ({ ...entry, ...end, ms: event.at - entry.at }));
}

function endCall(turn: Open, { call, outcome, durationMs, at }: EventOf<"call.finished">): void {
  const entry = turn.entries.findLast((one) => one.kind === "call" && one.key.startsWith(`c${call}/`));
  // One that was refused never began.
  if (entry === undefined) return;
  change(turn, entry.key, (one) => ({ ...one, ms: durationMs ?? at - one.at, ...{ outcome } }));
}

function change(turn: Open, key: string, make: (entry: Entry) => Entry): void {
  const index = turn.entries.findLastIndex((entry) => entry.key === key);
  const entry = turn.entries[index];
  if (entry !== undefined) turn.entries[index] = make(entry);
}

function stepKey(step: number, attempt: number): string {
  return `s${step}/${attempt}`;
}
