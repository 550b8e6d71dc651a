import { assert } from "../base/assert.ts";
import { ok, type Result } from "../base/result.ts";
import type { History } from "../log/log.ts";
import { type LogEvent, type NewEvent, ofAgent } from "../protocol/events.ts";
import type { ConversationRow, SideRows, StorageFailure } from "../storage/storage.ts";
import type { Tenure, TenureParts } from "./tenure.ts";

/**
 * One agent of a conversation that this process has: its history, and the events that are about to be stored. Staged
 * events count in the history at once and become durable together with the next commit, so that a step costs two
 * commits. Whoever stages must commit before anything is done or shown.
 */
export class Run {
  readonly tenure: Tenure;
  /** Undefined is the main agent. */
  readonly agent: string | undefined;
  readonly conversation: ConversationRow;
  readonly epoch: number;
  /** Something came in since it was last driven. */
  hasNews = true;
  /**
   * By call: an agent that it is about to make. Calls of one answer run side by side, and what one of them takes is gone
   * for the others before its event is staged.
   */
  readonly expected = new Map<string, Extract<NewEvent, { type: "agent.spawned" }>>();
  /** The process before this one ended while it was at work, and nobody has noted that yet. */
  wasAbandoned = false;
  readonly #parts: TenureParts;
  #history: History;
  /** The log as far as the history has what reaches it. */
  #committedHead: number;
  #staged: NewEvent[] = [];
  /** What others wrote that reaches this agent, in the order of the log. */
  #news: LogEvent[] = [];
  #controller = new AbortController();
  #wakeForeign: (() => void) | undefined;

  constructor(parts: TenureParts, tenure: Tenure, history: History) {
    this.#parts = parts;
    this.tenure = tenure;
    this.agent = history.self?.id;
    this.conversation = tenure.conversation;
    this.epoch = tenure.epoch;
    this.#history = history;
    this.#committedHead = history.head;
  }

  get history(): History {
    return this.#history;
  }

  /** Fires when the agent must stop: cancelled, fenced, storage failed, or the process ends. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The head of the log as of the last commit or catch-up. */
  get committedHead(): number {
    return this.#committedHead;
  }

  stage(event: NewEvent): void {
    const own = this.#own(event);
    // A place in the log for now; put right when another's event turns out to stand before it.
    this.#parts.log.apply(this.#history, { ...own, seq: this.#history.head + 1, at: this.#parts.clock.now() });
    this.#staged.push(own);
  }

  /** Completes the event staged last, in fields that the history does not look at. */
  amend(event: NewEvent): void {
    this.#staged[this.#staged.length - 1] = this.#own(event);
  }

  /**
   * Makes what is staged durable. `isExact`: it rests on messages that people may withdraw, so it is stored only while
   * nobody else has appended; otherwise `log_moved`, and the run stands where the log stands. `foreign`: events of
   * others that stand before ours, of which nothing was known when ours were staged.
   */
  async commit(side?: SideRows, { isExact = false } = {}): Promise<Result<{ foreign: number }, StorageFailure>> {
    const events = this.#staged;
    this.#staged = [];
    if (events.length === 0 && side === undefined) return ok({ foreign: 0 });
    const seenUpTo = isExact ? this.#committedHead : undefined;
    const stored = await this.tenure.append(this, { events, side: this.#withAgents(events, side), seenUpTo });
    if (!stored.ok && stored.failure.code === "log_moved") await this.startOver();
    else if (!stored.ok) this.tenure.fail(stored.failure);
    if (!stored.ok) return stored;
    const { lastSeq } = stored.value;
    const before = lastSeq - events.length;
    assert(before >= this.#committedHead, "the log only grows");
    const foreign = before > this.#committedHead ? await this.#takeInBefore(before, lastSeq) : 0;
    assert(this.#history.head === lastSeq, "the history stands at the head of the log");
    this.#committedHead = lastSeq;
    this.#dropNews(lastSeq);
    return ok({ foreign });
  }

  /** Why nothing could be stored, if that ended the run. */
  get failure(): StorageFailure | undefined {
    return this.tenure.failure;
  }

  /** Back to what is in the log: what was staged when storing failed never happened. */
  async startOver(): Promise<void> {
    this.#staged = [];
    this.expected.clear();
    this.#history = await this.#fold();
    this.#committedHead = this.#history.head;
    this.#dropNews(this.#committedHead);
  }

  /** Takes in what others have appended. */
  async catchUp(): Promise<void> {
    assert(this.#staged.length === 0, "staged events are committed before others are taken in");
    const upTo = this.tenure.knownHead;
    if (upTo <= this.#committedHead) return;
    await this.tenure.tellUpTo(upTo);
    const isFolded = this.#takeNews(upTo).every((event) => this.#parts.log.apply(this.#history, event));
    if (!isFolded) this.#history = await this.#fold(upTo);
    this.#committedHead = Math.max(this.#history.head, upTo);
    this.#history.head = this.#committedHead;
  }

  /** Somebody else wrote what reaches this agent. */
  hear(event: LogEvent): void {
    if (event.seq <= this.#committedHead) return;
    const place = this.#news.findLastIndex(({ seq }) => seq <= event.seq);
    if (this.#news[place]?.seq !== event.seq) this.#news.splice(place + 1, 0, event);
    // The main agent is stopped by whoever asks for it.
    if (event.type === "cancel.asked" && this.agent !== undefined && this.#history.ending === undefined) this.stop();
    this.hasNews = true;
    this.#wakeForeign?.();
    this.tenure.ring();
  }

  /** Whether there is something that an exact commit could not have known of. */
  hasNewsSince(place: number): boolean {
    return this.#news.some(({ seq, type }) => seq > place && !harmless.has(type));
  }

  /** Resolves when somebody else has written what reaches this agent. */
  nextForeign(): Promise<void> {
    if (this.#news.length > 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wakeForeign = resolve;
    });
  }

  isLeaseFresh(): boolean {
    return this.tenure.isLeaseFresh();
  }

  /** Stops the running turn, after which `goOn` lets it be ended, and the next one run. */
  stop(): void {
    this.goOn();
    this.#controller.abort("cancel");
  }

  /** Stops the run for good. */
  halt(reason: string): void {
    this.goOn();
    this.#controller.abort(reason);
    this.#wakeForeign?.();
    this.tenure.ring();
  }

  goOn(): void {
    if (this.#controller.signal.reason === "cancel") this.#controller = new AbortController();
  }

  /** Others appended between our last commit and this one: their events come first in the log. */
  async #takeInBefore(before: number, lastSeq: number): Promise<number> {
    await this.tenure.tellUpTo(before);
    const news = this.#takeNews(before);
    const after = this.#committedHead;
    const isInserted = this.#parts.log.insert(this.#history, after, news, before - after);
    if (!isInserted) this.#history = await this.#fold(lastSeq);
    return news.length;
  }

  /** The end of an agent is its parent's. */
  #own(event: NewEvent): NewEvent {
    return this.agent === undefined || event.type === "agent.ended" ? event : ofAgent(event, this.agent);
  }

  #takeNews(upTo: number): LogEvent[] {
    const count = this.#news.findLastIndex(({ seq }) => seq <= upTo) + 1;
    return this.#news.splice(0, count).filter(({ seq }) => seq > this.#committedHead);
  }

  #dropNews(upTo: number): void {
    this.#news = this.#news.filter(({ seq }) => seq > upTo);
  }

  async #fold(upTo?: number): Promise<History> {
    const { log } = this.#parts;
    const { number } = this.conversation;
    if (this.agent === undefined) return log.history(number, upTo);
    const history = (await log.tree(number, upTo)).agents.get(this.agent);
    assert(history !== undefined, "an agent that works stands in the log");
    return history;
  }

  /** Whose files a new agent works with is stored with the event that makes it. */
  #withAgents(events: readonly NewEvent[], side: SideRows | undefined): SideRows | undefined {
    const agents = events.flatMap((event) => {
      if (event.type !== "agent.spawned" || event.mode === "handoff") return [];
      const { id, agent: parent = "root", mode } = event;
      return [this.#parts.workspaces.agentRow({ agent: id, parent, isTask: mode === "task" })];
    });
    return agents.length === 0 ? side : { ...side, agents };
  }
}

/** Nobody takes it back, and nothing that is staged rests on it. */
const harmless: ReadonlySet<LogEvent["type"]> = new Set(["agent.mailed", "agent.ended", "file.changed"]);
