import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import { failed, type Result } from "../../base/result.ts";
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
  const lanes = new Map<string | number, Write[]>();
  const running = new Set<Promise<void>>();
  let isClosed = false;

  async function drain(lane: string | number, waiting: Write[]): Promise<void> {
    await new Promise(setImmediate);
    while (waiting.length > 0) await commit(waiting.splice(0, groupWritesMax), options);
    lanes.delete(lane);
  }

  return {
    write(lane, work, { isOnDisk } = { isOnDisk: true }) {
      return new Promise((resolve, reject) => {
        assert(!isClosed, "the storage is open");
        const write = { isOnDisk, ...makeWrite(work, resolve, reject) };
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

const groupWritesMax = 1000;

type Write = {
  readonly isOnDisk: boolean;
  readonly run: (transaction: Transaction) => Promise<void>;
  readonly settle: (failure: StorageFailure | undefined) => void;
  readonly reject: (error: unknown) => void;
};

function makeWrite<T>(
  work: (transaction: Transaction) => Promise<Result<T, StorageFailure>>,
  resolve: (outcome: Result<T, StorageFailure>) => void,
  reject: (error: unknown) => void,
): Omit<Write, "isOnDisk"> {
  let outcome: Result<T, StorageFailure> | undefined;
  return {
    async run(transaction) {
      outcome = await work(transaction);
    },
    settle(failure) {
      if (failure !== undefined) return resolve(failed(failure));
      assert(outcome !== undefined, "a committed write has run");
      resolve(outcome);
    },
    reject,
  };
}

/** A write that throws is taken out and the rest is tried again: one caller's mistake costs the others nothing. */
async function commit(group: Write[], options: LaneOptions): Promise<void> {
  while (group.length > 0) {
    const end = await transactionOf(group, options);
    if (end.kind === "threw") {
      const guilty = end.write === undefined ? group.splice(0) : group.splice(group.indexOf(end.write), 1);
      for (const write of guilty) write.reject(end.error);
      continue;
    }
    for (const write of group) write.settle(end.kind === "failed" ? end.failure : undefined);
    if (end.kind === "committed") for (const [number, lastSeq] of end.grown) options.onAppended(number, lastSeq);
    return;
  }
}

type End =
  | { readonly kind: "committed"; readonly grown: ReadonlyMap<number, number> }
  | { readonly kind: "failed"; readonly failure: StorageFailure }
  | { readonly kind: "threw"; readonly error: unknown; readonly write: Write | undefined };

async function transactionOf(group: readonly Write[], { connections, clock, onCommitted }: LaneOptions): Promise<End> {
  let current: Write | undefined;
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
      isQuick ? "BEGIN; SET LOCAL synchronous_commit = off" : "BEGIN",
    );
    onCommitted?.(clock.monotonic() - startedAt);
    return { kind: "committed", grown };
  } catch (error) {
    const failure = failureOf(error);
    return failure === undefined ? { kind: "threw", error, write: current } : { kind: "failed", failure };
  }
}
