import { inBackground } from "../base/background.ts";
import type { EventBody, NewEvent } from "../protocol/events.ts";
import type { Metrics } from "./counted.ts";
import type { Logger } from "./observe.ts";
import type { Span, SpanFacts, TracePlace, Tracer } from "./tracer.ts";

/** Makes spans and counts out of the events of the log, so that what happens and what is told of it cannot differ. */
export interface Watch {
  /** These events were stored at this time. In the context of whoever stored them. */
  appended(number: number, events: readonly NewEvent[], at: number): void;
}

export type WatchOptions = {
  readonly tracer: Tracer;
  readonly metrics: Metrics;
  /** The id of a conversation, as people know it. */
  readonly idOf: (number: number) => Promise<string | undefined>;
  /** Tools of ours; a name that a model or a program made up is nobody's label. */
  readonly isKnownTool: (name: string) => boolean;
  readonly logger: Pick<Logger, "error">;
};

/** Conversations and questions that are remembered at a time: of those before, the end is counted and not measured. */
const rememberedMax = 10_000;

type Turn = { readonly span: Span; readonly at: number; conversation?: string | undefined; step?: Step | undefined };
type Step = { readonly span: Span; readonly at: number; readonly slot: string; readonly model: string };
type Call = { readonly name: string; readonly arguments: string; span?: Span; at?: number };

type State = WatchOptions & {
  readonly turns: Map<string, Turn>;
  readonly calls: Map<string, Call>;
  readonly asked: Map<string, { readonly kind: string; readonly at: number }>;
  /** The request that brought a message. */
  readonly senders: Map<string, TracePlace>;
  /** Which role the main agent of a conversation plays. */
  readonly roles: Map<string, string>;
};

export function openWatch(options: WatchOptions): Watch {
  const state: State = {
    ...options,
    turns: new Map(),
    calls: new Map(),
    asked: new Map(),
    senders: new Map(),
    roles: new Map(),
  };
  return {
    appended(number, events, at) {
      for (const event of events) take(state, number, event, at);
    },
  };
}

function keep<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.size > rememberedMax ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
}

/** One agent of one conversation has one turn at a time. */
function turnKey(number: number, agent: string | undefined): string {
  return `${number} ${agent ?? ""}`;
}

function take(state: State, number: number, event: NewEvent, at: number): void {
  switch (event.type) {
    case "message.user": {
      const place = state.tracer.current();
      if (place !== undefined) keep(state.senders, `${number} ${event.id}`, place);
      return;
    }
    case "turn.started":
    case "turn.recovered":
      return beginTurn(state, number, event, at);
    case "step.started":
      return beginStep(state, number, event, at);
    case "message.assistant":
      return endStep(state, number, event);
    case "step.failed":
      return failStep(state, number, event, at);
    case "call.started":
      return beginCall(state, number, event, at);
    case "call.finished":
      return endCall(state, number, event, at);
    case "decision.asked":
      return keep(state.asked, `${number} ${event.id}`, { kind: event.kind, at });
    case "agent.chosen":
      return keep(state.roles, String(number), event.role);
    case "decision.made":
      return decided(state, number, event, at);
    case "compacted":
      return state.metrics.compacted(event.strategy);
    case "turn.finished":
      return endTurn(state, number, event, at);
    default:
  }
}

function beginTurn(
  state: State,
  number: number,
  event: Extract<NewEvent, { type: "turn.started" | "turn.recovered" }>,
  at: number,
): void {
  const { tracer, metrics, senders, roles } = state;
  const isRecovered = event.type === "turn.recovered";
  if (isRecovered) metrics.turnRecovered();
  const sender = event.type === "turn.started" ? `${number} ${event.message}` : "";
  // The request was answered long ago, perhaps: a trace goes on after its first span has ended.
  const parent = senders.get(sender) ?? null;
  senders.delete(sender);
  const name = event.agent ?? roles.get(String(number));
  const facts: SpanFacts = {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.id": event.agent ?? "root",
    "gen_ai.agent.name": name,
    "agentyard.turn": event.turn,
    "agentyard.recovered": isRecovered || undefined,
  };
  const span = tracer.start(name === undefined ? "invoke_agent" : `invoke_agent ${name}`, facts, { parent, at });
  const turn: Turn = { span, at };
  keep(state.turns, turnKey(number, event.agent), turn);
  // A conversation that cannot be read now has larger troubles than a span without its id.
  if (tracer.isOn) void inBackground(state.logger, "a span has no conversation", nameTurn(state, number, turn));
}

async function nameTurn({ idOf }: State, number: number, turn: Turn): Promise<void> {
  turn.conversation = await idOf(number);
  turn.span.set({ "gen_ai.conversation.id": turn.conversation });
  turn.step?.span.set({ "gen_ai.conversation.id": turn.conversation });
}

function beginStep(
  { tracer, turns }: State,
  number: number,
  { agent, slot, model, step, attempt, bytes, reused }: EventBody<"step.started">,
  at: number,
): void {
  const turn = turns.get(turnKey(number, agent));
  if (turn === undefined) return;
  const facts: SpanFacts = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": model,
    "gen_ai.conversation.id": turn.conversation,
    "agentyard.slot": slot,
    "agentyard.step": step,
    "agentyard.attempt": attempt,
    "agentyard.request.bytes": bytes,
    "agentyard.request.reused_bytes": reused,
  };
  const span = tracer.start(`chat ${model}`, facts, { kind: "client", parent: turn.span.place ?? null, at });
  turn.step = { span, at, slot, model };
}

function endStep(state: State, number: number, event: EventBody<"message.assistant">): void {
  const { metrics, tracer, turns, calls } = state;
  const turn = turns.get(turnKey(number, event.agent));
  for (const { id, name, arguments: args } of event.calls ?? [])
    keep(calls, `${number} ${id}`, { name, arguments: args });
  const step = turn?.step;
  if (turn === undefined || step === undefined) return;
  turn.step = undefined;
  const { slot, model, span } = step;
  metrics.modelCalled({ slot, model, outcome: "ok", ms: event.durationMs, usage: event.usage });
  const { firstTokenMs } = event;
  if (firstTokenMs !== undefined) metrics.firstPiece({ slot, model, ms: firstTokenMs });
  span.set({
    "gen_ai.response.time_to_first_chunk": firstTokenMs === undefined ? undefined : firstTokenMs / 1000,
    "gen_ai.response.finish_reasons": [event.finish],
    "gen_ai.usage.input_tokens": event.usage.input,
    "gen_ai.usage.output_tokens": event.usage.output,
    "gen_ai.output.messages": tracer.tellsContent
      ? JSON.stringify([{ role: "assistant", content: event.text, tool_calls: event.calls }])
      : undefined,
  });
  span.end(step.at + event.durationMs);
}

function failStep({ metrics, turns }: State, number: number, event: EventBody<"step.failed">, at: number): void {
  const turn = turns.get(turnKey(number, event.agent));
  const step = turn?.step;
  if (turn === undefined || step === undefined) return;
  turn.step = undefined;
  metrics.modelCalled({ slot: step.slot, model: step.model, outcome: event.kind, ms: at - step.at });
  step.span.fail(event.kind, event.failure.code);
  step.span.end(at);
}

function beginCall(
  { tracer, turns, calls }: State,
  number: number,
  { agent, call, attempt, class: effect }: EventBody<"call.started">,
  at: number,
): void {
  const known = calls.get(`${number} ${call}`);
  if (known === undefined) return;
  const turn = turns.get(turnKey(number, agent));
  const facts: SpanFacts = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": known.name,
    "gen_ai.tool.call.id": call,
    "gen_ai.tool.type": "function",
    "gen_ai.conversation.id": turn?.conversation,
    "agentyard.effect": effect,
    "agentyard.attempt": attempt,
    "gen_ai.tool.call.arguments": tracer.tellsContent ? known.arguments : undefined,
  };
  const span = tracer.start(`execute_tool ${known.name}`, facts, { parent: turn?.span.place ?? null, at });
  keep(calls, `${number} ${call}`, { ...known, at, span });
}

function endCall(state: State, number: number, event: EventBody<"call.finished">, at: number): void {
  const { metrics, tracer, calls, isKnownTool } = state;
  const key = `${number} ${event.call}`;
  const call = calls.get(key);
  calls.delete(key);
  const tool = call !== undefined && isKnownTool(call.name) ? call.name : "other";
  metrics.toolCalled({ tool, outcome: event.outcome, ms: event.durationMs });
  const span = call?.span;
  if (span === undefined || call?.at === undefined) return;
  span.set({ "gen_ai.tool.call.result": tracer.tellsContent ? event.text : undefined });
  if (event.outcome !== "ok") span.fail(event.failure?.code ?? event.outcome);
  // It is stored with the next step, some time after it came to its end.
  span.end(event.durationMs === undefined ? at : Math.min(call.at + event.durationMs, at));
}

function decided({ metrics, asked }: State, number: number, event: EventBody<"decision.made">, at: number): void {
  const key = `${number} ${event.id}`;
  const question = asked.get(key);
  asked.delete(key);
  if (question === undefined) return;
  metrics.decided({ kind: question.kind, verdict: event.verdict, ms: Math.max(0, at - question.at) });
}

function endTurn({ metrics, turns }: State, number: number, event: EventBody<"turn.finished">, at: number): void {
  const key = turnKey(number, event.agent);
  const turn = turns.get(key);
  turns.delete(key);
  metrics.turnEnded({ outcome: event.outcome, ms: turn && at - turn.at });
  if (turn === undefined) return;
  turn.step?.span.fail(event.outcome);
  turn.step?.span.end(at);
  turn.span.set({ "agentyard.outcome": event.outcome });
  if (event.outcome !== "done" && event.outcome !== "cancelled") turn.span.fail(event.failure?.code ?? event.outcome);
  turn.span.end(at);
}
