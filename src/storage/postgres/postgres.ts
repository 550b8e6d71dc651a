import type { Clock } from "../../base/clock.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import type { FillCopy } from "../copied-tables.ts";
import { openFollowers } from "../followers.ts";
import { integer } from "../rows.ts";
import type { Storage } from "../storage.ts";
import { type Connections, openConnections } from "./connections.ts";
import { conversing } from "./conversations.ts";
import { copyDatabase } from "./copy.ts";
import { schemaOf } from "./database-place.ts";
import { deciding } from "./decisions.ts";
import { logging } from "./events.ts";
import { executing, holdingSessions } from "./executions.ts";
import { type DatabaseFailure, openFailureOf } from "./failures.ts";
import { openLanes } from "./lanes.ts";
import { leasing } from "./leases.ts";
import { migrate, type UnfitFailure } from "./migrations.ts";
import { doingOnce } from "./once.ts";
import { type OwnLine, openOwnLine } from "./own-line.ts";
import { remembering } from "./rules.ts";
import { sealing } from "./secrets.ts";
import { sharing } from "./sharing.ts";
import { boxing } from "./toolboxes.ts";
import { trashing } from "./trash.ts";
import { admitting } from "./users.ts";
import { filing } from "./workspaces.ts";

export type PostgresOptions = {
  /** `postgres://user:password@host:port/database`; `?schema=` where the tables are not to lie in `agentyard`. */
  readonly url: string;
  readonly clock: Clock;
  /** Makes a copy of the database from its rows. */
  readonly fillCopy: FillCopy;
  /** What leases and wakes go by. The database's own time unless it is given: all processes share that. */
  readonly now?: (() => number) | undefined;
  /** `normal` survives the end of our process, but the last commits may be lost when the server itself breaks down. */
  readonly synchronous?: "full" | "normal";
  readonly connectionsMax?: number;
  readonly statementMsMax?: number;
  /** How long a server that went away is waited for. */
  readonly awayMsMax?: number;
  /** Told how long each transaction took. */
  readonly onCommitted?: ((ms: number) => void) | undefined;
};

export type OpenFailure = UnfitFailure | DatabaseFailure;

/** Opens the database at this address; makes or migrates our tables first where that is needed. */
export async function openPostgres(options: PostgresOptions): Promise<Result<Storage, OpenFailure>> {
  const { url, clock, synchronous = "full", connectionsMax = 10, statementMsMax = 30_000 } = options;
  const place = { url, synchronous, statementMsMax };
  // What is wrong at the start is told at once; what goes away later is waited for.
  const first = openConnections({ ...place, clock, statementMsMax: migrationMsMax, connectionsMax: 1, awayMsMax: 0 });
  const migrated = await tryToMigrate(first, schemaOf(url));
  await first.close();
  if (!migrated.ok) return migrated;
  const { awayMsMax = 10_000 } = options;
  const connections = openConnections({ ...place, clock, connectionsMax, awayMsMax });
  return ok(storageOn({ connections, line: openOwnLine({ ...place, clock, awayMsMax }) }, options));
}

/** Large tables may take their time. */
const migrationMsMax = 3_600_000;

async function tryToMigrate(connections: Connections, schema: string): Promise<Result<void, OpenFailure>> {
  try {
    return await migrate(connections, schema);
  } catch (error) {
    const reason = openFailureOf(error);
    if (reason === undefined) throw error;
    return failed(reason);
  }
}

function storageOn({ connections, line }: Ways, options: PostgresOptions): Storage {
  const { clock, onCommitted, fillCopy } = options;
  const followers = openFollowers();
  const lanes = openLanes({ connections, clock, onAppended: followers.tell, onCommitted });
  const { reader } = connections;
  const parts = { reader, lanes, now: () => options.now?.() ?? null, announce: line.announce };
  let closing: Promise<void> | undefined;
  return {
    ...{ ...conversing(parts), ...logging(parts, followers), ...leasing(parts), ...deciding(parts) },
    ...{ ...remembering(parts), ...sealing(parts), ...boxing(parts), ...filing(parts), ...trashing(parts) },
    ...{ ...holdingSessions(parts), ...executing(parts), ...admitting(parts), ...doingOnce(parts) },
    ...sharing(parts, line),
    copyTo: (path) => copyDatabase(connections, path, fillCopy),
    async count() {
      const row = (await reader.one(countSql)) ?? {};
      return { conversations: integer(row, "conversations"), decisionsOpen: integer(row, "decisions") };
    },
    // Takes a lock, looks, and finds nothing that old.
    check: () =>
      lanes.write("check", async ({ run }) => {
        await run("DELETE FROM execution WHERE ended_at < $1", Number.MIN_SAFE_INTEGER);
        return ok(undefined);
      }),
    close() {
      closing ??= Promise.all([lanes.close().then(connections.close), line.close()]).then(() => {});
      return closing;
    },
  };
}

/** To the database: the pool, and a connection that waits for nobody. */
type Ways = { readonly connections: Connections; readonly line: OwnLine };

const countSql = `SELECT
  (SELECT count(*) FROM conversation WHERE deleted_at IS NULL AND origin = 'person') AS conversations,
  (SELECT count(*) FROM decision) AS decisions`;
