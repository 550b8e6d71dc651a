import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import type { Result } from "../../base/result.ts";
import { type Broken, groupWritesMax, makeWrite, takeOut, type Write } from "../group.ts";
import { serverGoneMs } from "../sharing.ts";
import type { StorageFailure } from "../storage.ts";
import type { Connections } from "./connections.ts";
import { failureOf } from "./failures.ts";
import type { Query } from "./query.ts";

/** What a write works with, inside its transaction. */
export type Transaction = Query & {
  /** Told to those who follow the conversation, once it is committed. */
  appended(number: number, lastSeq: number): void;
};

export type Lanes = {
  /**
   * Runs `work` in a transaction; resolves after its commit. Writes of one lane are done in the order they were asked
   * for, and those that wait share a transaction. `work` looks before it writes: a failure that it returns must have
   * written nothing. `isOnDisk: false` does not wait for the disk of the server.
   */
  write<T>(
    lane: string | number,
    work: (transaction: Transaction) => Promise<Result<T, StorageFailure>>,
    options?: { readonly isOnDisk: boolean },
  ): Promise<Result<T, StorageFailure>>;
  /** Ends when all that was asked for is done. Nothing can be written afterwards. */
  close(): Promise<void>;
};

export type LaneOptions = {
  readonly connections: Connections;
  readonly clock: Clock;
  readonly onAppended: (number: number, lastSeq: number) => void;
  /** How long a transaction took. */
  readonly onCommitted?: ((ms: number) => void) | undefined;
};

/**
 * SQLite has one writer, and all writes of a moment share its transaction. Here many write at once, and what must keep
 * its order keeps it in a lane: each conversation is one, and so is each user for what is not of a conversation.
 */
export function openLanes(options: LaneOptions): Lanes {
  const lanes = new Map<string | number, LaneWrite[]>();
  const running = new Set<Promise<void>>();
  let isClosed = false;

  async function drain(lane: string | number, waiting: LaneWrite[]): Promise<void> {
    await new Promise(setImmediate);
    while (waiting.length > 0) await commit(waiting.splice(0, groupWritesMax), options);
    lanes.delete(lane);
  }

  return {
    write(lane, work, { isOnDisk } = { isOnDisk: true }) {
      return new Promise((resolve, reject) => {
        assert(!isClosed, "the storage is open");
        const write = makeWrite({ isOnDisk, resolve, reject }, (keep) => async (transaction: Transaction) => {
          keep(await work(transaction));
        });
        const waiting = lanes.get(lane);
        if (waiting !== undefined) return void waiting.push(write);
        const begun = [write];
        lanes.set(lane, begun);
        const draining = drain(lane, begun).finally(() => running.delete(draining));
        running.add(draining);
      });
    },
    async close() {
      isClosed = true;
      await Promise.all(running);
    },
  };
}

type LaneWrite = Write<(transaction: Transaction) => Promise<void>>;

async function commit(group: LaneWrite[], options: LaneOptions): Promise<void> {
  while (group.length > 0) {
    const end = await transactionOf(group, options);
    if (end.kind === "threw") {
      takeOut(group, end);
      continue;
    }
    for (const write of group) write.settle(end.kind === "failed" ? end.failure : undefined);
    if (end.kind === "committed") for (const [number, lastSeq] of end.grown) options.onAppended(number, lastSeq);
    return;
  }
}

type End = { readonly kind: "committed"; readonly grown: ReadonlyMap<number, number> } | Broken<LaneWrite["run"]>;

/** A server that is gone in the middle of a write, its machine without power or stopped, must not keep rows from those who go on. */
const begin = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${serverGoneMs}`;

async function transactionOf(
  group: readonly LaneWrite[],
  { connections, clock, onCommitted }: LaneOptions,
): Promise<End> {
  let current: LaneWrite | undefined;
  const grown = new Map<number, number>();
  const appended = (number: number, lastSeq: number) => void grown.set(number, lastSeq);
  const isQuick = !group.some(({ isOnDisk }) => isOnDisk);
  const startedAt = clock.monotonic();
  try {
    await connections.transact(
      async (query) => {
        grown.clear();
        for (const write of group) {
          current = write;
          await write.run({ ...query, appended });
        }
        current = undefined;
      },
      isQuick ? `${begin}; SET LOCAL synchronous_commit = off` : begin,
    );
    onCommitted?.(clock.monotonic() - startedAt);
    return { kind: "committed", grown };
  } catch (error) {
    const failure = failureOf(error);
    return failure === undefined ? { kind: "threw", error, write: current } : { kind: "failed", failure };
  }
}
