import { assert } from "../base/assert.ts";
import { inBackground } from "../base/background.ts";
import { ok, type Result } from "../base/result.ts";
import type { History } from "../log/log.ts";
import type { NewEvent } from "../protocol/events.ts";
import type { ConversationRow, SideRows, StorageFailure } from "../storage/storage.ts";
import type { Parts } from "./parts.ts";

/** Takes up a conversation: claims its lease and folds its log. `fenced` while another process has it. */
export async function openRun(
  parts: Parts,
  conversation: ConversationRow,
  holder: string,
): Promise<Result<Run, StorageFailure>> {
  const lease = await parts.storage.claimLease(conversation.number, holder, parts.limits.leaseMs);
  if (!lease.ok) return lease;
  const history = await parts.log.history(conversation.number);
  return ok(new Run(parts, { conversation, history, holder, ...lease.value }));
}

type RunStart = {
  readonly conversation: ConversationRow;
  readonly history: History;
  readonly holder: string;
  readonly epoch: number;
  readonly wasAbandoned: boolean;
};

/**
 * One conversation in the hands of this process: its lease, its history, and the events that are about to be stored.
 * Staged events count in the history at once and become durable together with the next commit, so that a step costs
 * two commits. Whoever stages must commit before anything is done or shown.
 */
export class Run {
  readonly conversation: ConversationRow;
  readonly epoch: number;
  /** The process before this one ended in the middle of something. */
  readonly wasAbandoned: boolean;
  readonly #parts: Parts;
  readonly #holder: string;
  readonly #unlisten: () => void;
  #history: History;
  /** The log as far as the history has it for sure, and as far as it is known to go. */
  #committedHead: number;
  #knownHead: number;
  #staged: NewEvent[] = [];
  #failure: StorageFailure | undefined;
  #controller = new AbortController();
  #renewedAt: number;
  #cancelRenewal: () => void;
  #wakeForeign: (() => void) | undefined;

  constructor(parts: Parts, { conversation, history, holder, epoch, wasAbandoned }: RunStart) {
    this.#parts = parts;
    this.conversation = conversation;
    this.epoch = epoch;
    this.wasAbandoned = wasAbandoned;
    this.#holder = holder;
    this.#history = history;
    this.#committedHead = history.head;
    this.#knownHead = history.head;
    this.#renewedAt = parts.clock.monotonic();
    this.#unlisten = parts.log.onAppend(conversation.number, (lastSeq) => {
      this.#knownHead = Math.max(this.#knownHead, lastSeq);
      this.#wakeForeign?.();
    });
    this.#cancelRenewal = this.#renewLater();
  }

  get history(): History {
    return this.#history;
  }

  /** Fires when the turn must stop: cancelled, fenced, storage failed, or the process ends. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The head of the log as of the last commit or catch-up. */
  get committedHead(): number {
    return this.#committedHead;
  }

  stage(event: NewEvent): void {
    // A place in the log for now; put right when another's event turns out to stand before it.
    this.#parts.log.apply(this.#history, { ...event, seq: this.#history.head + 1, at: this.#parts.clock.now() });
    this.#staged.push(event);
  }

  /** Completes the event staged last, in fields that the history does not look at. */
  amend(event: NewEvent): void {
    this.#staged[this.#staged.length - 1] = event;
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
    const expectedHead = isExact ? this.#committedHead : undefined;
    const options = { epoch: this.epoch, expectedHead, with: side };
    const stored = await this.#parts.log.append(this.conversation.number, events, options);
    if (!stored.ok && stored.failure.code === "log_moved") await this.startOver();
    else if (!stored.ok) {
      this.#failure = stored.failure;
      this.#controller.abort(stored.failure.code);
    }
    if (!stored.ok) return stored;
    const { lastSeq } = stored.value;
    const foreign = lastSeq - events.length - this.#committedHead;
    assert(foreign >= 0, "the log only grows");
    if (foreign > 0) await this.#takeInBefore(foreign, lastSeq);
    assert(this.#history.head === lastSeq, "the history stands at the head of the log");
    this.#committedHead = lastSeq;
    this.#knownHead = Math.max(this.#knownHead, lastSeq);
    return ok({ foreign });
  }

  /** Why nothing could be stored, if that ended the run. */
  get failure(): StorageFailure | undefined {
    return this.#failure;
  }

  /** Back to what is in the log: what was staged when storing failed never happened. */
  async startOver(): Promise<void> {
    this.#staged = [];
    this.#history = await this.#parts.log.history(this.conversation.number);
    this.#committedHead = this.#history.head;
    this.#knownHead = Math.max(this.#knownHead, this.#committedHead);
  }

  /** Takes in what others have appended. */
  async catchUp(): Promise<void> {
    assert(this.#staged.length === 0, "staged events are committed before others are taken in");
    const upTo = this.#knownHead;
    if (upTo <= this.#committedHead) return;
    const { log } = this.#parts;
    const { number } = this.conversation;
    const events = await log.read(number, { after: this.#committedHead, limit: Number.MAX_SAFE_INTEGER, upTo });
    const isFolded = events.every((event) => log.apply(this.#history, event));
    if (!isFolded) this.#history = await log.history(number, upTo);
    this.#committedHead = Math.max(this.#history.head, upTo);
    this.#history.head = this.#committedHead;
  }

  /** Resolves at the next append by somebody else. */
  nextForeign(): Promise<void> {
    if (this.#knownHead > this.#committedHead) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wakeForeign = resolve;
    });
  }

  /** Whether the lease was renewed recently enough to do something that cannot be undone. */
  isLeaseFresh(): boolean {
    return this.#parts.clock.monotonic() - this.#renewedAt < this.#parts.limits.leaseMs * 0.8;
  }

  /** `cancel` stops the running turn, after which `goOn` lets the next one run; `closing` stops the run for good. */
  stop(reason: "cancel" | "closing"): void {
    this.goOn();
    this.#controller.abort(reason);
  }

  goOn(): void {
    if (this.#controller.signal.reason === "cancel") this.#controller = new AbortController();
  }

  async release(): Promise<void> {
    this.#cancelRenewal();
    this.#unlisten();
    await this.#parts.storage.releaseLease(this.conversation.number, { holder: this.#holder, epoch: this.epoch });
  }

  /** Others appended between our last commit and this one: their events come first in the log. */
  async #takeInBefore(foreign: number, lastSeq: number): Promise<void> {
    const { log } = this.#parts;
    const { number } = this.conversation;
    const after = this.#committedHead;
    const events = await log.read(number, { after, limit: foreign, upTo: after + foreign });
    const isInserted = events.length === foreign && log.insert(this.#history, after, events);
    if (!isInserted) this.#history = await log.history(number, lastSeq);
  }

  #renewLater(): () => void {
    const { clock, limits, logger } = this.#parts;
    const what = `the lease of ${this.conversation.id} was not renewed`;
    return clock.after(limits.leaseMs / 3, () => void inBackground(logger, what, this.#renew()));
  }

  async #renew(): Promise<void> {
    const lease = { holder: this.#holder, epoch: this.epoch, ttlMs: this.#parts.limits.leaseMs };
    this.#cancelRenewal = this.#renewLater();
    if (await this.#parts.storage.renewLease(this.conversation.number, lease))
      this.#renewedAt = this.#parts.clock.monotonic();
    else this.#controller.abort("fenced");
  }
}
