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

/** What the log says before the part that is looked at: what agents are called, and the turn that runs in it. */
export type Before = { readonly names?: ReadonlyMap<string, string>; readonly turn?: number };

/** Turns in the order of the log; the first may have begun before it, and begins with what is seen of it. */
export function timeTurns(events: readonly LogEvent[], before: Before = {}): TimedTurn[] {
  const turns: Open[] = [];
  const tools = new Map<string, string>();
  const agents = new Map(before.names);
  const begins = begunBefore(events, before);
  for (const event of events) {
    const id = agentOf(event);
    if (event.type === "agent.spawned") agents.set(event.id, event.mode === "worker" ? "" : (event.name ?? event.role));
    if (isTurnStart(event)) turns.push(begun(event.turn, event.at));
    if (event === begins?.first) turns.push(begun(begins.turn, event.at));
    const turn = turns.at(-1);
    if (turn === undefined) continue;
    const name = id === undefined ? undefined : (agents.get(id) ?? id);
    // Calls and steps of agents are numbered alike.
    apply(turn, event, { prefix: id === undefined ? "" : `${id}/`, name, tools });
  }
  return turns;
}

/** Agents that work here and were made before it. */
export function unnamedAgents(events: readonly LogEvent[]): Set<string> {
  const ids = new Set(events.flatMap((event) => agentOf(event) ?? []));
  for (const event of events) if (event.type === "agent.spawned") ids.delete(event.id);
  return ids;
}

/** The turn that was under way where these events begin, and the first that is seen of it. */
function begunBefore(events: readonly LogEvent[], { turn: running = 1 }: Before) {
  const next = events.findIndex(isTurnStart);
  const earlier = next === -1 ? events : events.slice(0, next);
  const first = earlier.find((event) => agentOf(event) !== undefined || ofTurns.has(event.type));
  if (first === undefined) return undefined;
  const own = earlier.find((event) => "turn" in event && agentOf(event) === undefined);
  if (own !== undefined && "turn" in own) return { first, turn: own.turn };
  const after = events[next];
  return { first, turn: after !== undefined && "turn" in after ? after.turn - 1 : running };
}

/** These stand in turns alone; messages, files and room that is made also between them. */
const ofTurns: ReadonlySet<LogEvent["type"]> = new Set([
  ...(["turn.recovered", "step.started", "message.assistant", "step.failed", "turn.finished"] as const),
  ...(["decision.asked", "decision.made", "call.started", "call.finished"] as const),
]);

function isTurnStart(event: LogEvent): event is EventOf<"turn.started"> {
  return event.type === "turn.started" && event.agent === undefined;
}

function agentOf(event: LogEvent): string | undefined {
  return "agent" in event ? event.agent : undefined;
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
