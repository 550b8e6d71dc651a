import { parsedJson } from "../base/json.ts";
import type { EventOf, LogEvent } from "../protocol/events.ts";
import type { ToolCall, Usage } from "../protocol/message.ts";

/** One turn, folded from its events, for the object that `run --json` prints. */
export class TurnRecord {
  #turn: number | undefined;
  #end: EventOf<"turn.finished"> | undefined;
  #answers: EventOf<"message.assistant">[] = [];
  /** What was used to make room, and by attempts that failed. */
  #summaries: Usage[] = [];
  #steps = new Set<number>();
  /** What goes on without a person, of any agent: model calls, and calls of tools that no agent does the work of. */
  #running = new Set<string>();
  #asked = new Map<string, EventOf<"decision.asked">>();
  #seq = 0;
  readonly #message: string | undefined;

  /** With a message: the turn that answers it; otherwise the newest one. */
  constructor(message?: string) {
    this.#message = message;
  }

  take(event: LogEvent): void {
    this.#seq = event.seq;
    if (event.type === "turn.started" && event.agent === undefined) this.#start(event);
    if (this.#turn === undefined || this.#end !== undefined) return;
    this.#takeWork(event);
    if (event.type === "decision.asked") this.#asked.set(event.id, event);
    if (event.type === "decision.made") this.#asked.delete(event.id);
    if ("agent" in event && event.agent !== undefined) return;
    if (event.type === "step.started") this.#steps.add(event.step);
    if (event.type === "message.assistant") this.#answers.push(event);
    const isPaidFor = event.type === "compacted" || event.type === "usage.noted" || event.type === "step.failed";
    if (isPaidFor && event.usage !== undefined) this.#summaries.push(event.usage);
    if (event.type === "turn.finished") this.#end = event;
  }

  #takeWork(event: LogEvent): void {
    if (event.type === "agent.ended") {
      for (const [id, { agent }] of this.#asked) if (agent === event.id) this.#asked.delete(id);
      for (const key of [...this.#running]) if (key.startsWith(`${event.id} `)) this.#running.delete(key);
    }
    if (event.type === "agent.spawned" && event.mode !== "handoff") {
      // Whoever waits for a worker does nothing meanwhile; the worker does.
      this.#running.delete(callOf(event.agent, event.call ?? ""));
      this.#running.add(stepOf(event.id));
    }
    if (event.type === "step.started") this.#running.add(stepOf(event.agent));
    if (event.type === "message.assistant") this.#running.delete(stepOf(event.agent));
    if (event.type === "call.started") this.#running.add(callOf(event.agent, event.call));
    if (event.type === "call.finished") this.#running.delete(callOf(event.agent, event.call));
  }

  get isBegun(): boolean {
    return this.#turn !== undefined;
  }

  get end(): EventOf<"turn.finished"> | undefined {
    return this.#end;
  }

  /** The newest event of the log that was taken, of whatever turn. */
  get seq(): number {
    return this.#seq;
  }

  /** The tool for which a person is needed, when nothing else goes on, as far as the events up to here tell. */
  get needsPerson(): string | undefined {
    const asking = new Set([...this.#asked.values()].map(({ agent, call }) => callOf(agent, call)));
    const isBusy = [...this.#running].some((call) => !asking.has(call));
    return this.#end !== undefined || isBusy ? undefined : this.#asked.values().next().value?.tool;
  }

  /** What nobody has decided yet, as it was asked. */
  get asked(): readonly EventOf<"decision.asked">[] {
    return [...this.#asked.values()];
  }

  /** The ids of what nobody has decided yet. */
  get openDecisions(): readonly string[] {
    return [...this.#asked.keys()];
  }

  summary() {
    const last = this.#answers.at(-1);
    return {
      answer: last?.text ?? "",
      reasoning: this.#answers.flatMap(({ reasoning }) => (reasoning ? [reasoning] : [])).join("\n\n"),
      steps: this.#steps.size,
      tool_calls: this.#answers.flatMap(({ calls }) => calls ?? []).map(toToolCall),
      usage: sumUsage([...this.#answers.map(({ usage }) => usage), ...this.#summaries]),
    };
  }

  #start(event: EventOf<"turn.started">): void {
    if (this.#message !== undefined && event.message !== this.#message) return;
    this.#turn = event.turn;
    this.#end = undefined;
    this.#answers = [];
    this.#summaries = [];
    this.#steps.clear();
    this.#running.clear();
    this.#asked.clear();
  }
}

/** Calls of two agents may have the same id. */
function callOf(agent: string | undefined, call: string): string {
  return `${agent ?? "root"} call ${call}`;
}

function stepOf(agent: string | undefined): string {
  return `${agent ?? "root"} step`;
}

/** The arguments as the object that the model wrote, else their text as it is. */
function toToolCall({ id, name, arguments: text }: ToolCall) {
  const json = parsedJson(text);
  return { id, name, arguments: json === undefined ? text : json };
}

/** Summed over the turn's steps: what the turn cost. Parts that no server told are absent. */
function sumUsage(usages: readonly Usage[]) {
  const sum = (pick: (usage: Usage) => number | undefined) =>
    usages.reduce((total, usage) => total + (pick(usage) ?? 0), 0);
  const isTold = (pick: (usage: Usage) => number | undefined) => usages.some((usage) => pick(usage) !== undefined);
  const [cached, reasoning] = [(usage: Usage) => usage.cachedInput, (usage: Usage) => usage.reasoning];
  return {
    input: sum((usage) => usage.input),
    output: sum((usage) => usage.output),
    ...(isTold(cached) && { cached_input: sum(cached) }),
    ...(isTold(reasoning) && { reasoning: sum(reasoning) }),
  };
}
