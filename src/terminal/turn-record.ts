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
    if (this.#turn === undefined || this.#end !== undefined || ("agent" in event && event.agent !== undefined)) return;
    if (event.type === "step.started") this.#steps.add(event.step);
    if (event.type === "message.assistant") this.#answers.push(event);
    const isPaidFor = event.type === "compacted" || event.type === "usage.noted" || event.type === "step.failed";
    if (isPaidFor && event.usage !== undefined) this.#summaries.push(event.usage);
    if (event.type === "call.started") this.#running.add(event.call);
    if (event.type === "call.finished") this.#running.delete(event.call);
    if (event.type === "decision.asked") this.#asked.set(event.id, event);
    if (event.type === "decision.made") this.#asked.delete(event.id);
    if (event.type === "turn.finished") this.#end = event;
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
    const asking = new Set([...this.#asked.values()].map(({ call }) => call));
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
