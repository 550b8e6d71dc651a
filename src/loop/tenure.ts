import { inBackground } from "../base/background.ts";
import { failed, ok, type Result } from "../base/result.ts";
import { beginAgent, readersOf, type Tree } from "../log/log.ts";
import type { LogEvent, NewEvent } from "../protocol/events.ts";
import { makeFailure } from "../protocol/failure.ts";
import type { ConversationRow, SideRows, StorageFailure } from "../storage/storage.ts";
import type { Parts } from "./parts.ts";
import { Run } from "./run.ts";

/** Settings that a person has just changed hold within this time. */
const lookAgainMs = 1_000;

/** What keeping a conversation takes. */
export type TenureParts = Pick<
  Parts,
  "log" | "storage" | "homes" | "gates" | "clock" | "logger" | "limits" | "beforeTurn"
> & { readonly workspaces: Pick<Parts["workspaces"], "agentRow"> };

/** Takes up a conversation: claims its lease and folds its log. `fenced` while another server has it. */
export async function openTenure(
  parts: TenureParts,
  conversation: ConversationRow,
  holder: string,
): Promise<Result<Tenure, StorageFailure>> {
  const claimedAt = parts.clock.monotonic();
  const lease = await parts.storage.claimLease(conversation.number, holder, parts.limits.leaseMs);
  if (!lease.ok) return lease;
  const tree = await parts.log.tree(conversation.number);
  return ok(new Tenure(parts, { conversation, tree, holder, claimedAt, ...lease.value }));
}

type TenureStart = {
  readonly conversation: ConversationRow;
  readonly tree: Tree;
  readonly holder: string;
  /** Before it was asked for: whoever sleeps until the answer is read must not take it for a new one. */
  readonly claimedAt: number;
  readonly epoch: number;
  /** The process before this one ended in the middle of something. */
  readonly wasAbandoned: boolean;
};

type Written = {
  readonly events: readonly NewEvent[];
  readonly side: SideRows | undefined;
  readonly seenUpTo?: number | undefined;
};

/** Events of the log that agents of this process wrote: they need not be read. */
type Range = { readonly first: number; readonly last: number };

/**
 * One conversation in the hands of this process: its lease, and a run for each of its agents that has not ended. All
 * append to the one log in whatever order they come; each hears of what others wrote only where it means something to it.
 */
export class Tenure {
  readonly conversation: ConversationRow;
  readonly epoch: number;
  /** By agent, the main one (`root`) first. */
  readonly runs = new Map<string, Run>();
  readonly root: Run;
  readonly #parts: TenureParts;
  readonly #holder: string;
  readonly #unlisten: () => void;
  /** The log as far as everything in it was told to whom it reaches, what of it lies beyond that and is ours, and its end. */
  #toldUpTo: number;
  #ours: Range[] = [];
  #knownHead: number;
  #appending = 0;
  #telling: Promise<void> | undefined;
  #failure: StorageFailure | undefined;
  /** Why everybody stops, once they do. */
  #over: string | undefined;
  #renewedAt: number;
  #cancelRenewal: () => void;
  #onNews: (() => void) | undefined;
  #looked: { readonly at: number; readonly end: Promise<void> } | undefined;

  constructor(parts: TenureParts, { conversation, tree, holder, claimedAt, epoch, wasAbandoned }: TenureStart) {
    this.#parts = parts;
    this.conversation = conversation;
    this.epoch = epoch;
    this.#holder = holder;
    this.#toldUpTo = tree.root.head;
    this.#knownHead = tree.root.head;
    this.#renewedAt = claimedAt;
    this.root = new Run(parts, this, tree.root);
    this.runs.set("root", this.root);
    for (const [id, history] of tree.agents) if (!isOver(tree, id)) this.runs.set(id, new Run(parts, this, history));
    for (const run of this.runs.values()) run.wasAbandoned = wasAbandoned;
    this.#unlisten = parts.log.onAppend(conversation.number, (lastSeq) => {
      this.#knownHead = Math.max(this.#knownHead, lastSeq);
      this.#lookSoon();
    });
    this.#cancelRenewal = this.#renewLater();
  }

  get knownHead(): number {
    return this.#knownHead;
  }

  /** Why nothing could be stored, if that ended it. */
  get failure(): StorageFailure | undefined {
    return this.#failure;
  }

  /**
   * Appends what an agent did. `seenUpTo`: only while nobody else than other agents has appended since, and none of those
   * has decided anything; `log_moved` otherwise.
   */
  async append(
    author: Run,
    { events, side, seenUpTo }: Written,
  ): Promise<Result<{ readonly lastSeq: number }, StorageFailure>> {
    const { gates } = this.#parts;
    const { number } = this.conversation;
    if (seenUpTo === undefined) return gates.among(number, () => this.#append(author, { events, side }));
    if (this.runs.size === 1) return this.#append(author, { events, side, seenUpTo });
    return gates.alone(number, async () => {
      await this.tellUpTo(this.#knownHead);
      if (author.hasNewsSince(seenUpTo)) return failed(makeFailure("log_moved", {}));
      return this.#append(author, { events, side, seenUpTo: this.#knownHead });
    });
  }

  /** Tells everything up to a place of the log to whom it reaches; what others appended is read for that. */
  async tellUpTo(place: number): Promise<void> {
    while (this.#toldUpTo < place) {
      this.#telling ??= this.#tell(place).finally(() => {
        this.#telling = undefined;
      });
      await this.#telling;
    }
  }

  /** Nothing can be stored any more: everybody stops. */
  fail(failure: StorageFailure): void {
    this.#failure ??= failure;
    this.#haltAll(failure.code);
  }

  /** The process ends, or whoever drives the conversation lets go of it. */
  close(): void {
    this.#haltAll("closing");
  }

  /**
   * Before an agent goes on in the middle of its turn: this process may not have looked at settings, tools and skills yet, or
   * not for a while. Agents that write to each other go on many times in a second, and share a look.
   */
  async lookAround(): Promise<void> {
    const at = this.#parts.clock.monotonic();
    if (this.#looked === undefined || at - this.#looked.at >= lookAgainMs)
      this.#looked = { at, end: this.#parts.beforeTurn() };
    await this.#looked.end;
  }

  /** Whether the lease was renewed, and this process was heard of, recently enough to do something that cannot be undone. */
  isLeaseFresh(): boolean {
    return (
      this.#parts.homes.isFresh() && this.#parts.clock.monotonic() - this.#renewedAt < this.#parts.limits.leaseMs * 0.8
    );
  }

  /** Somebody has news. */
  ring(): void {
    this.#onNews?.();
  }

  /** Resolves when an agent has news, or there is another one. */
  nextNews(): Promise<void> {
    return new Promise((resolve) => {
      this.#onNews = resolve;
    });
  }

  async release(): Promise<void> {
    this.#cancelRenewal();
    this.#unlisten();
    await this.#parts.storage.releaseLease(this.conversation.number, { holder: this.#holder, epoch: this.epoch });
  }

  async #append(author: Run, { events, side, seenUpTo }: Written) {
    this.#appending += 1;
    try {
      const options = { epoch: this.epoch, expectedHead: seenUpTo, with: side };
      const stored = await this.#parts.log.append(this.conversation.number, events, options);
      if (stored.ok) this.#note(author, events, stored.value.lastSeq);
      return stored;
    } finally {
      this.#appending -= 1;
      this.#lookSoon();
    }
  }

  /** In the moment they are known to be stored: agents begin and end, and others hear of what reaches them. */
  #note(author: Run, events: readonly NewEvent[], last: number): void {
    this.#knownHead = Math.max(this.#knownHead, last);
    const first = last - events.length + 1;
    if (events.length > 0) this.#ours.push({ first, last });
    const at = this.#parts.clock.now();
    for (const [index, event] of events.entries()) {
      const stored: LogEvent = { ...event, seq: first + index, at };
      this.#tellOne(stored, author);
      if (stored.type === "agent.spawned") this.#begin(stored, last);
      if (stored.type === "agent.ended") this.runs.delete(stored.id);
    }
    this.#skipOurs();
  }

  #begin(event: Extract<LogEvent, { type: "agent.spawned" }>, head: number): void {
    const parent = this.runs.get(event.agent ?? "root");
    if (event.mode === "handoff" || parent === undefined || this.runs.has(event.id)) return;
    const history = beginAgent(parent.history, event);
    history.head = head;
    const run = new Run(this.#parts, this, history);
    this.runs.set(event.id, run);
    this.ring();
    // It was on its way to the storage when everybody was told to stop.
    if (this.#over !== undefined) run.halt(this.#over);
  }

  async #tell(place: number): Promise<void> {
    const { log } = this.#parts;
    while (this.#toldUpTo < place) {
      const next = this.#ours.find(({ first }) => first > this.#toldUpTo);
      const upTo = Math.min(place, (next?.first ?? place + 1) - 1);
      const range = { after: this.#toldUpTo, limit: Number.MAX_SAFE_INTEGER, upTo };
      for (const event of await log.read(this.conversation.number, range)) this.#tellOne(event);
      this.#toldUpTo = Math.max(this.#toldUpTo, upTo);
      this.#skipOurs();
    }
  }

  #tellOne(event: LogEvent, author?: Run): void {
    const isStructural = event.type === "rewound" || event.type === "compaction.undone";
    const readers = isStructural ? this.runs.keys() : readersOf(event, withoutRoot(this.runs.keys()));
    for (const id of readers) {
      const run = this.runs.get(id);
      if (run !== author) run?.hear(event);
    }
  }

  #skipOurs(): void {
    this.#ours.sort((a, b) => a.first - b.first);
    while ((this.#ours[0]?.first ?? Number.POSITIVE_INFINITY) <= this.#toldUpTo + 1)
      this.#toldUpTo = Math.max(this.#toldUpTo, this.#ours.shift()?.last ?? 0);
  }

  /** Somebody else appended, as far as that can be known before our own appends are answered. */
  #lookSoon(): void {
    if (this.#appending > 0 || this.#knownHead <= this.#toldUpTo || this.#telling !== undefined) return;
    const what = `what others appended to ${this.conversation.id} was not read`;
    void inBackground(this.#parts.logger, what, this.tellUpTo(this.#knownHead));
  }

  #renewLater(): () => void {
    const { clock, limits, logger } = this.#parts;
    const what = `the lease of ${this.conversation.id} was not renewed`;
    return clock.after(limits.leaseMs / 3, () => void inBackground(logger, what, this.#renew()));
  }

  async #renew(): Promise<void> {
    const lease = { holder: this.#holder, epoch: this.epoch, ttlMs: this.#parts.limits.leaseMs };
    this.#cancelRenewal = this.#renewLater();
    const askedAt = this.#parts.clock.monotonic();
    const renewed = await this.#parts.storage.renewLease(this.conversation.number, lease);
    // Who could not ask may hold it still; the next append tells.
    if (!renewed.ok) {
      const { code } = renewed.failure;
      this.#parts.logger.warn(`the lease of ${this.conversation.id} could not be renewed`, { code });
    } else if (renewed.value) this.#renewedAt = Math.max(this.#renewedAt, askedAt);
    else this.#haltAll("fenced");
  }

  #haltAll(why: string): void {
    this.#over ??= why;
    for (const run of this.runs.values()) run.halt(why);
  }
}

function* withoutRoot(ids: Iterable<string>): Generator<string> {
  for (const id of ids) if (id !== "root") yield id;
}

/** It has ended, or the turn that made it has. */
function isOver({ root, agents }: Tree, id: string): boolean {
  const history = agents.get(id);
  const { parent = "root" } = history?.self ?? {};
  const child = (parent === "root" ? root : agents.get(parent))?.children.get(id);
  return child === undefined || child.ended !== undefined;
}
