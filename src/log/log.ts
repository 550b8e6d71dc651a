import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Result } from "../base/result.ts";
import {
  eventBody,
  eventVersions,
  isEventType,
  type LogEvent,
  type NewEvent,
  storedEvent,
} from "../protocol/events.ts";
import type { EncodedEvent, SideRows, Storage, StorageFailure, StoredEvent } from "../storage/storage.ts";
import { type Conversations, openConversations } from "./conversations.ts";
import { applyEvent, effectiveEvents, foldHistory, foldTree, insertEvents } from "./history.ts";
import type { History, Tree } from "./history-state.ts";
import { openSharing } from "./share-recipes.ts";

export { checkRecord, checkRules } from "./check-record.ts";
export { argumentsHash, askedHash, chained, decidedOn, linkOf, madeHash } from "./decision-record.ts";
export { beginAgent } from "./fold-agents.ts";
export { runningMs } from "./fold-budget.ts";
export { agentAfter, applyEvent, applyToTree, foldHistory } from "./history.ts";
export type * from "./history-state.ts";
export { emptyHistory } from "./history-state.ts";
export type * from "./keepsakes.ts";
export { knownHash } from "./known.ts";
export { reaches, readersOf } from "./reaches.ts";

/** The rules of the event log over any storage: checked when written, in order when read, folded the same way everywhere. */
export interface Log extends Conversations {
  append(
    number: number,
    events: readonly NewEvent[],
    options?: AppendOptions,
  ): Promise<Result<{ lastSeq: number }, StorageFailure>>;
  /** Events with `after < seq`, in order. A record that cannot be read is left out and reported: it must not hide the rest. */
  read(number: number, range: Range): Promise<LogEvent[]>;
  headOf(number: number): Promise<number>;
  onAppend(number: number, listener: (lastSeq: number) => void): () => void;

  /** The main agent's fold of the whole log, or of the log as it stood at `upTo`. */
  history(number: number, upTo?: number): Promise<History>;
  /** The same for all agents. */
  tree(number: number, upTo?: number): Promise<Tree>;
  /** Moves a history on; the answer is false when it needs to be folded anew. */
  apply(history: History, event: LogEvent): boolean;
  /** Takes in what others appended between `after` and events already applied: `count` in all; false as above. */
  insert(history: History, after: number, events: readonly LogEvent[], count?: number): boolean;
  /** What counts of the log up to a place, rewound parts left out. */
  effective(number: number, upTo: number): Promise<LogEvent[]>;
}

export type AppendOptions = {
  readonly epoch?: number | undefined;
  /** Appends only while the log ends here; `log_moved` otherwise. */
  readonly expectedHead?: number | undefined;
  readonly with?: SideRows | undefined;
};
type Range = { readonly after: number; readonly limit: number; readonly upTo?: number | undefined };

export type LogOptions = {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Tests check every body that is read; production trusts what was checked when it was written. */
  readonly checksReads: boolean;
  readonly onBrokenRecord: (record: { number: number; seq: number; why: string }) => void;
  /** Told of what was appended, when it is stored. */
  readonly onAppended?: ((number: number, events: readonly NewEvent[], at: number) => void) | undefined;
};

/** Rows read at once, so that no read holds the database for long. */
const readRowsMax = 2_000;

export function openLog(options: LogOptions): Log {
  const { storage, clock, onAppended } = options;
  const share = openSharing();
  const read: Log["read"] = async (number, range) => readable(number, await storage.read(number, range), options);

  async function readAll(number: number, upTo?: number): Promise<{ events: LogEvent[]; head: number }> {
    const events: LogEvent[] = [];
    for (let after = 0; ; ) {
      const rows = await storage.read(number, { after, limit: readRowsMax, upTo });
      events.push(...readable(number, rows, options));
      const last = rows.at(-1);
      after = last?.seq ?? after;
      if (rows.length < readRowsMax) return { events, head: after };
    }
  }

  return {
    ...openConversations(options, encoded),
    async append(number, events, options = {}) {
      const at = clock.now();
      const appended = await storage.append({ number, events: events.map((event) => encoded(event, at)), ...options });
      if (appended.ok) onAppended?.(number, events, at);
      return appended;
    },
    read,
    headOf: (number) => storage.headOf(number),
    onAppend: (number, listener) => storage.onAppend(number, listener),
    async history(number, upTo) {
      const { events, head } = await readAll(number, upTo);
      const history = share(foldHistory(events));
      history.head = head; // Also where the last record cannot be read.
      return history;
    },
    async tree(number, upTo) {
      const { events, head } = await readAll(number, upTo);
      const tree = foldTree(events);
      for (const history of [tree.root, ...tree.agents.values()]) share(history).head = head;
      return tree;
    },
    effective: async (number, upTo) => effectiveEvents((await readAll(number, upTo)).events),
    insert: insertEvents,
    apply(history, event) {
      assert(event.seq > history.head, "events are applied in the order of the log, once");
      if (event.type === "rewound" || event.type === "compaction.undone") return false;
      applyEvent(history, event);
      if (event.type === "recipe.set") share(history);
      return true;
    },
  };
}

/** An event as it is stored; checked in full first. */
function encoded(event: NewEvent, now: number): EncodedEvent {
  // Of a decision the time is part of what its hash is about.
  const at = "time" in event ? (event.time ?? now) : now;
  return { type: event.type, version: eventVersions[event.type], at, body: JSON.stringify(eventBody(event)) };
}

function readable(
  number: number,
  rows: readonly StoredEvent[],
  { checksReads, onBrokenRecord }: LogOptions,
): LogEvent[] {
  const events: LogEvent[] = [];
  for (const row of rows) {
    const event = decoded(row, { check: checksReads });
    if ("broken" in event) onBrokenRecord({ number, seq: row.seq, why: event.broken });
    else events.push(event);
  }
  return events;
}

/** One event, or why the record cannot be read. */
function decoded(row: StoredEvent, options: { check: boolean }): LogEvent | { readonly broken: string } {
  const { type, version } = row;
  if (!isEventType(type) || version > eventVersions[type])
    return { broken: `unknown type ${type}, version ${version}` };
  return storedEvent({ ...row, type }, options);
}
