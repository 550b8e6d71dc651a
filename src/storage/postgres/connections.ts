import pg from "pg";
import type { Clock } from "../../base/clock.ts";
import { StorageAway } from "../storage.ts";
import { configOf, type DatabasePlace } from "./database-place.ts";
import { CommitUnknown, failureOf, isGivenUp, isPassing } from "./failures.ts";
import { openNames, type Query, queryOn, type Reader } from "./query.ts";

export type ConnectionOptions = DatabasePlace & {
  readonly connectionsMax: number;
  readonly clock: Clock;
  /** How long a server that is away is waited for. */
  readonly awayMsMax: number;
};

export type Connections = {
  /** Each statement on any connection. */
  readonly reader: Reader;
  /** Runs `work` between BEGIN and COMMIT; where it throws, or the server goes away before the end, nothing is written. */
  transact<T>(work: (query: Query) => Promise<T>, begin?: string): Promise<T>;
  close(): Promise<void>;
};

/** A pool of connections. A server that starts anew, or a network that is cut, is waited for before anything fails. */
export function openConnections(options: ConnectionOptions): Connections {
  const { clock, awayMsMax, connectionsMax } = options;
  const pool = new pg.Pool({ ...configOf(options), max: connectionsMax, idleTimeoutMillis: idleMsMax });
  // One that nobody uses just now was cut. The pool has taken it out; the next one is new.
  pool.on("error", ignore);
  // Whoever asks hears of an error, too; without a listener it would end the process besides. From its first moment on: a
  // server that ends may say so in the same breath in which it lets somebody in.
  pool.on("connect", (client) => client.on("error", ignore));
  const nameOf = openNames();

  async function onConnection<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    let isUsable = false;
    try {
      const answer = await work(client);
      isUsable = true;
      return answer;
    } finally {
      // Closing it is how a transaction that was left is rolled back, whatever became of the connection.
      client.release(!isUsable);
    }
  }

  async function persistently<T>(attempt: () => Promise<T>): Promise<T> {
    const startedAt = clock.monotonic();
    for (let givenUp = 0; ; ) {
      try {
        return await attempt();
      } catch (error) {
        const isWorthMore = isGivenUp(error)
          ? givenUp++ < givenUpMax
          : isPassing(error) && clock.monotonic() - startedAt < awayMsMax && !pool.ending;
        if (!isWorthMore) throw error;
        await clock.wait(retryMs);
      }
    }
  }

  async function ask<T>(work: (query: Query) => Promise<T>): Promise<T> {
    try {
      return await persistently(() => onConnection((client) => work(queryOn(client, nameOf))));
    } catch (error) {
      const failure = failureOf(error);
      const isAway = failure?.code === "database_away" || failure?.code === "storage_busy";
      throw isAway ? new StorageAway(failure, error) : error;
    }
  }

  return {
    reader: {
      all: (sql, ...values) => ask(({ all }) => all(sql, ...values)),
      one: (sql, ...values) => ask(({ one }) => one(sql, ...values)),
      list: (sql, ...values) => ask(({ list }) => list(sql, ...values)),
    },
    transact: (work, begin = "BEGIN") =>
      persistently(() =>
        onConnection(async (client) => {
          await client.query(begin);
          const answer = await work(queryOn(client, nameOf));
          await commit(client);
          return answer;
        }),
      ),
    close: closerOf(pool, clock),
  };
}

/** A server that does not answer is not waited for: its connections would keep the process. */
function closerOf(pool: pg.Pool, clock: Clock): () => Promise<void> {
  const open = new Set<pg.PoolClient>();
  pool.on("connect", (client) => open.add(client));
  pool.on("remove", (client) => open.delete(client));
  return () => {
    // Not called off when the pool has ended: it forgets those that nobody uses before their server has let go of them.
    clock.after(endMsMax, () => {
      for (const { connection } of open) connection.stream.destroy();
    });
    return pool.end();
  };
}

async function commit(client: pg.PoolClient): Promise<void> {
  try {
    await client.query("COMMIT");
  } catch (error) {
    throw new CommitUnknown("the connection was lost while a commit was on its way", { cause: error });
  }
}

const idleMsMax = 30_000;
const endMsMax = 3_000;
const retryMs = 100;
const givenUpMax = 5;
const ignore = () => {};
