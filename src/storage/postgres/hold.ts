import pg from "pg";
import { inBackground } from "../../base/background.ts";
import type { Clock } from "../../base/clock.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { failure } from "../../protocol/failure.ts";
import { configOf, type DatabasePlace, schemaOf } from "./database-place.ts";
import { openFailureOf } from "./failures.ts";
import { lockClass } from "./migrations.ts";
import type { OpenFailure } from "./postgres.ts";

export type Hold = { close(): Promise<void> };

export type HoldOptions = DatabasePlace & {
  /** Others that hold it so as well may have it at the same time; without it nobody else may. */
  readonly isShared?: boolean;
  readonly clock: Clock;
  readonly log: Parameters<typeof inBackground>[0];
  /** Another process has it to itself by now: this one must not write any more. */
  readonly onLost: (failure: OpenFailure) => void;
};

/**
 * Holds the schema for this process, as long as it lives: the server takes the lock back when the connection ends. Servers
 * hold it together; who moves data into it has it alone. After the database was away it is taken anew; where somebody
 * has it alone by then, this process hears that it lost it.
 */
export async function holdDatabase(options: HoldOptions): Promise<Result<Hold, OpenFailure>> {
  const { clock, log, onLost } = options;
  const first = await lock(options, { patienceMs: waitMsMax });
  if (!first.ok) return first;
  let held = first.value;
  let isClosed = false;

  function keep(next: Held): void {
    held = next;
    const rest = pingOften(held.client, options);
    held.client.once("end", () => {
      rest();
      void inBackground(log, "the lock of the database was lost", regain());
    });
  }
  async function regain(): Promise<void> {
    const before = held;
    let isOver = false;
    const attempt = async () => {
      const again = await lock(options, { patienceMs: 0, before: before.backend });
      isOver = again.ok || isClosed || isOfAnother(again.failure);
      if (!again.ok) return isOver && !isClosed ? onLost(again.failure) : undefined;
      if (isClosed) await end(again.value.client, clock);
      else keep(again.value);
    };
    while (!isClosed) {
      const pause = clock.wait(retryMs);
      await inBackground(log, "the lock of the database could not be taken again", attempt());
      if (isOver) return;
      await pause;
    }
  }

  keep(held);
  return ok({
    async close() {
      isClosed = true;
      await end(held.client, clock);
    },
  });
}

/** A process that is just ending has that long. */
const waitMsMax = 3_000;
const retryMs = 100;
const pingMs = 5_000;
const endMsMax = 3_000;

/** A connection that has the lock, and what the server calls it. */
type Held = { readonly client: pg.Client; readonly backend: string };

type Wanted = {
  readonly patienceMs: number;
  /** Who had the lock for us: after a cut the server may take a while to notice that it has gone. */
  readonly before?: string;
};

async function lock(options: HoldOptions, { patienceMs, before }: Wanted): Promise<Result<Held, OpenFailure>> {
  const { clock } = options;
  const client = new pg.Client(configOf(options));
  // It ends then, and whoever holds it hears of that.
  client.on("error", () => {});
  const startedAt = clock.monotonic();
  const schema = schemaOf(options.url);
  let isOurs = false;
  try {
    await client.connect();
    for (;;) {
      const { rows } = await client.query(options.isShared ? sharedSql : aloneSql, [holdClass, schema]);
      isOurs = rows[0]?.is_ours === true;
      if (isOurs) return ok({ client, backend: String(rows[0]?.backend) });
      if (clock.monotonic() - startedAt >= patienceMs) break;
      await clock.wait(retryMs);
    }
    const { rows } = await client.query(holderSql, [holdClass, schema]);
    const { holder = "", backend } = rows[0] ?? {};
    if (before !== undefined && backend === before) return failure("storage_busy", {});
    return failure("database_unusable", { why: "in_use", said: String(holder) });
  } catch (error) {
    isOurs = false;
    const reason = openFailureOf(error);
    if (reason === undefined) throw error;
    return failed(reason);
  } finally {
    if (!isOurs) await end(client, clock);
  }
}

/** Nobody is named where whoever had it has just let go. */
function isOfAnother(failure: OpenFailure): boolean {
  return failure.code === "database_unusable" && failure.params.why === "in_use" && failure.params.said !== "";
}

/** The numbers of processes come again, their beginnings do not. */
const backend = "format('%s %s', pid, backend_start)";
const lockSql = (lock: string) => `SELECT ${lock}($1, hashtext($2)) AS is_ours,
  (SELECT ${backend} FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS backend`;
const [aloneSql, sharedSql] = [lockSql("pg_try_advisory_lock"), lockSql("pg_try_advisory_lock_shared")];
const holderSql = `SELECT ${backend} AS backend,
  format('%s, process %s of the server', coalesce(host(client_addr), 'this machine'), pid) AS holder
  FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid::bigint = $1
    AND objid::bigint = (hashtext($2)::bigint & 4294967295)
    AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1`;

/** A cut is not heard of by itself: who does not answer is ended. The answer stops it. */
function pingOften(client: pg.Client, { clock, statementMsMax }: HoldOptions): () => void {
  const asked = { text: "SELECT 1", query_timeout: Math.min(statementMsMax, pingMs) };
  let cancel = () => {};
  const later = () => {
    cancel = clock.after(pingMs, () => void client.query(asked).then(later, () => client.connection.stream.destroy()));
  };
  later();
  return () => cancel();
}

/** A server that does not answer is not waited for: its connection would keep the process. */
async function end(client: pg.Client, clock: Clock): Promise<void> {
  const cancel = clock.after(endMsMax, () => client.connection.stream.destroy());
  await client.end();
  cancel();
}

/** Another one than that of migrations. */
const holdClass = lockClass + 1;
