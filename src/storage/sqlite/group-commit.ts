import type { DatabaseSync } from "node:sqlite";
import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import type { Result } from "../../base/result.ts";
import { type Broken, groupWritesMax, makeWrite, takeOut, type Write } from "../group.ts";
import type { StorageFailure } from "../storage.ts";
import { failureOf } from "./failures.ts";

export type GroupCommit = {
  /**
   * Runs `work` in the next transaction; resolves after its commit. `work` looks before it writes: a failure that it
   * returns must have written nothing, for the transaction goes on with the others. `isOnDisk: false` does not wait for
   * the disk: it outlives this process, and the power with the next write that does wait.
   */
  write<T>(
    work: () => Result<T, StorageFailure>,
    options?: { readonly isOnDisk: boolean },
  ): Promise<Result<T, StorageFailure>>;
  /** Commits what waits, without waiting for others. Nothing can be written afterwards. */
  close(): void;
};

export type GroupOptions = {
  readonly database: DatabaseSync;
  readonly synchronous: "full" | "normal";
  readonly clock: Clock;
  readonly busyTimeoutMs: number;
  readonly onBegin: () => void;
  readonly onRollback: () => void;
  /** After every promise of the group was resolved. */
  readonly onCommit: () => void;
  readonly onFull: () => void;
  /** How long a transaction took, the disk included. */
  readonly onCommitted?: ((ms: number) => void) | undefined;
};

/** All writes of one tick share one transaction: one sync of the disk for all of them. */
export function groupCommit(options: GroupOptions): GroupCommit {
  const { clock, busyTimeoutMs } = options;
  const transaction = prepareTransaction(options);
  let waiting: GroupWrite[] = [];
  let isScheduled = false;
  let isClosed = false;
  let busySince: number | undefined;

  function flush(): void {
    isScheduled = false;
    const group = waiting.splice(0, groupWritesMax);
    const began = clock.monotonic();
    const failure = commit(group);
    if (failure === undefined) options.onCommitted?.(clock.monotonic() - began);
    if (failure?.code === "storage_busy" && mayWait()) return waitAndRetry(group);
    busySince = undefined;
    for (const write of group) write.settle(failure);
    if (failure === undefined) options.onCommit();
    if (failure?.code === "storage_full") options.onFull();
    schedule();
  }

  function commit(group: GroupWrite[]): StorageFailure | undefined {
    for (;;) {
      const end = transaction(group);
      if (end.kind === "committed") return undefined;
      if (end.kind === "failed") return end.failure;
      takeOut(group, end);
      if (group.length === 0) return undefined;
    }
  }

  function mayWait(): boolean {
    busySince ??= clock.monotonic();
    return !isClosed && clock.monotonic() - busySince < busyTimeoutMs;
  }

  // Not by SQLite's own timeout, which would hold up every stream of the process.
  function waitAndRetry(group: GroupWrite[]): void {
    waiting = [...group, ...waiting];
    isScheduled = true;
    void clock.wait(busyRetryMs).then(() => {
      if (!isClosed) flush();
    });
  }

  function schedule(): void {
    if (isScheduled || waiting.length === 0) return;
    isScheduled = true;
    setImmediate(() => {
      if (!isClosed) flush();
    });
  }

  return {
    write(work, { isOnDisk } = { isOnDisk: true }) {
      assert(!isClosed, "the storage is open");
      return new Promise((resolve, reject) => {
        waiting.push(makeWrite({ isOnDisk, resolve, reject }, (keep) => () => keep(work())));
        schedule();
      });
    },
    close() {
      isClosed = true;
      while (waiting.length > 0) flush();
    },
  };
}

const busyRetryMs = 25;

type GroupWrite = Write<() => void>;
type End = { readonly kind: "committed" } | Broken<GroupWrite["run"]>;

function prepareTransaction({
  database,
  synchronous,
  onBegin,
  onRollback,
}: GroupOptions): (group: readonly GroupWrite[]) => End {
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const rollback = database.prepare("ROLLBACK");
  return (group) => {
    let current: GroupWrite | undefined;
    const isQuick = synchronous === "full" && !group.some(({ isOnDisk }) => isOnDisk);
    try {
      if (isQuick) database.exec("PRAGMA synchronous = normal");
      begin.run();
      onBegin();
      for (const write of group) {
        current = write;
        write.run();
      }
      current = undefined;
      commit.run();
      return { kind: "committed" };
    } catch (error) {
      if (database.isTransaction) rollback.run();
      onRollback();
      const failure = failureOf(error);
      return failure === undefined ? { kind: "threw", error, write: current } : { kind: "failed", failure };
    } finally {
      if (isQuick) database.exec("PRAGMA synchronous = full");
    }
  };
}
