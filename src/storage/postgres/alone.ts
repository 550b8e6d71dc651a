import pg from "pg";
import { inBackground } from "../../base/background.ts";
import type { Clock } from "../../base/clock.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { failure } from "../../protocol/failure.ts";
import { configOf, type DatabasePlace, schemaOf } from "./database-place.ts";
import { openFailureOf } from "./failures.ts";
import { lockClass } from "./migrations.ts";
import type { OpenFailure } from "./postgres.ts";

export type Alone = { close(): Promise<void> };

export type AloneOptions = DatabasePlace & {
  readonly clock: Clock;
  readonly log: Parameters<typeof inBackground>[0];
};

/**
 * Holds the schema for this process, as long as it lives: the server takes the lock back when the connection ends. After
 * the server was away it is taken anew, before anybody else can notice: who comes waits longer than that.
 */
export async function holdAlone(options: AloneOptions): Promise<Result<Alone, OpenFailure>> {
  const { clock, log } = options;
  const first = await lock(options, waitMsMax);
  if (!first.ok) return first;
  let held = first.value;
  let isClosed = false;

  const keep = () => held.once("end", () => void inBackground(log, "the lock of the database was lost", regain()));
  async function regain(): Promise<void> {
    while (!isClosed) {
      const again = await lock(options, 0);
      if (again.ok) {
        held = again.value;
        keep();
        return;
      }
      await clock.wait(retryMs);
    }
  }

  keep();
  return ok({
    async close() {
      isClosed = true;
      await held.end();
    },
  });
}

const lockSql = "SELECT pg_try_advisory_lock($1, hashtext($2)) AS is_ours";
const holderSql = `SELECT format('%s, process %s of the server', coalesce(host(client_addr), 'this machine'), pid) AS holder
  FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND classid::bigint = $1 LIMIT 1`;
/** A process that is just ending has that long. */
const waitMsMax = 3_000;
const retryMs = 100;

async function lock(options: AloneOptions, patienceMs: number): Promise<Result<pg.Client, OpenFailure>> {
  const { clock } = options;
  const client = new pg.Client(configOf(options));
  // It ends then, and whoever holds it hears of that.
  client.on("error", () => {});
  const startedAt = clock.monotonic();
  let isOurs = false;
  try {
    await client.connect();
    for (;;) {
      const { rows } = await client.query(lockSql, [aloneClass, schemaOf(options.url)]);
      isOurs = rows[0]?.is_ours === true;
      if (isOurs) return ok(client);
      if (clock.monotonic() - startedAt >= patienceMs) break;
      await clock.wait(retryMs);
    }
    const { rows } = await client.query(holderSql, [aloneClass]);
    return failure("database_unusable", { why: "in_use", said: String(rows[0]?.holder ?? "") });
  } catch (error) {
    const reason = openFailureOf(error);
    if (reason === undefined) throw error;
    return failed(reason);
  } finally {
    if (!isOurs) await client.end();
  }
}

/** Another one than that of migrations. */
const aloneClass = lockClass + 1;
