import type { CallOutcome, EventOf, LogEvent, TurnOutcome } from "../../../src/protocol/events.ts";
import type { Usage } from "../../../src/protocol/message.ts";

/** What happened in a turn of the main agent, in the order it did; what the agents that it made did meanwhile stands among it. */
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

type Timed = {
  readonly key: string;
  /** What the agent is called: undefined is the main agent, and a worker has no name. */
  readonly agent: string | undefined;
  readonly at: number;
  readonly ms: number | undefined;
};
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
  const tools = new Map<string, string>();
  const agents = new Map<string, string>();
  for (const event of events) {
    const id = "agent" in event ? event.agent : undefined;
    if (event.type === "agent.spawned") agents.set(event.id, event.mode === "worker" ? "" : (event.name ?? event.role));
    if (event.type === "turn.started" && id === undefined) turns.push(begun(event.turn, event.at));
    const turn = turns.at(-1);
    if (turn === undefined) continue;
    const name = id === undefined ? undefined : (agents.get(id) ?? id);
    // Calls and steps of agents are numbered alike.
    apply(turn, event, { prefix: id === undefined ? "" : `${id}/`, name, tools });
  }
  return turns;
}

/** Whose event it is, and what the calls are of. */
type Whose = { readonly prefix: string; readonly name: string | undefined; readonly tools: Map<string, string> };

function begun(turn: number, startedAt: number): Open {
  return {
    ...{ turn, startedAt, endedAt: undefined, outcome: "running" },
    ...{ entries: [], usage: { input: 0, output: 0 }, steps: 0, calls: 0 },
  };
}

function apply(turn: Open, event: LogEvent, whose: Whose): void {
  const { prefix, name: agent, tools } = whose;
  switch (event.type) {
    case "step.started":
      return startStep(turn, event, whose);
    case "message.assistant":
      return answer(turn, event, whose);
    case "step.failed":
      return change(turn, stepKey(prefix, event), (entry) => ({
        ...{ ...entry, failed: event.kind, ms: event.at - entry.at },
      }));
    case "call.started": {
      turn.calls += 1;
      const key = `${prefix}c${event.call}/${event.seq}`;
      const name = tools.get(`${prefix}${event.call}`) ?? event.call;
      turn.entries.push({ kind: "call", key, agent, name, at: event.at, ms: undefined, outcome: "running" });
      return;
    }
    case "call.finished":
      return endCall(turn, event, prefix);
    case "decision.asked":
      turn.entries.push({ kind: "wait", key: `d${event.id}`, agent, tool: event.tool, at: event.at, ms: undefined });
      return;
    case "decision.made":
      return change(turn, `d${event.id}`, (entry) => ({ ...entry, ms: event.at - entry.at }));
    case "compacted":
      turn.entries.push({ kind: "compacted", key: `k${event.seq}`, agent, at: event.at, ms: undefined });
      return;
    case "turn.finished":
      if (prefix !== "") return;
      turn.endedAt = event.at;
      turn.outcome = event.outcome;
      return;
    default:
  }
}

function startStep(turn: Open, event: EventOf<"step.started">, { prefix, name: agent }: Whose): void {
  const { step, attempt, model, slot, at } = event;
  if (attempt === 1) turn.steps += 1;
  turn.entries.push({
    ...{ kind: "model", key: stepKey(prefix, event), agent, step, attempt, model, slot, at },
    ...{ ms: undefined, usage: undefined, firstMs: undefined, failed: undefined },
  });
}

function answer(turn: Open, event: EventOf<"message.assistant">, { prefix, tools }: Whose): void {
  const { step, usage, durationMs, firstTokenMs, calls = [] } = event;
  for (const { id, name } of calls) tools.set(`${prefix}${id}`, name);
  const last = turn.entries.findLast(({ key }) => key.startsWith(`${prefix}s${step}/`));
  if (last !== undefined)
    change(turn, last.key, (entry) => ({ ...entry, ms: durationMs, ...{ usage, firstMs: firstTokenMs } }));
  const cached = (turn.usage.cachedInput ?? 0) + (usage.cachedInput ?? 0);
  turn.usage = {
    input: turn.usage.input + usage.input,
    output: turn.usage.output + usage.output,
    ...(cached > 0 && { cachedInput: cached }),
  };
}

function endCall(turn: Open, { call, outcome, durationMs, at }: EventOf<"call.finished">, prefix: string): void {
  const entry = turn.entries.findLast(({ key }) => key.startsWith(`${prefix}c${call}/`));
  // One that was refused never began.
  if (entry === undefined) return;
  change(turn, entry.key, (one) => ({ ...one, ms: durationMs ?? at - one.at, ...{ outcome } }));
}

function change(turn: Open, key: string, make: (entry: Entry) => Entry): void {
  const index = turn.entries.findLastIndex((entry) => entry.key === key);
  const entry = turn.entries[index];
  if (entry !== undefined) turn.entries[index] = make(entry);
}

function stepKey(prefix: string, { step, attempt }: { readonly step: number; readonly attempt: number }): string {
  return `${prefix}s${step}/${attempt}`;
}
