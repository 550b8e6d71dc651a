import { systemClock } from "./base/clock.ts";
import { failed, ok, type Result } from "./base/result.ts";
import type { Config } from "./config/config.ts";
import { type Failure, failure } from "./protocol/failure.ts";
import { readRows } from "./storage/sqlite/read-rows.ts";
import { openSqlite } from "./storage/sqlite/sqlite.ts";
import type { CopyFacts } from "./storage/storage.ts";

/** An empty database of a database server, which no other process may use meanwhile. */
export type EmptyDatabase = {
  /**
   * Brings in all that a file of SQLite holds, in one transaction, and compares. `last` happens before that counts: where it
   * fails, nothing has come in.
   */
  bringIn(path: string, last?: () => Promise<Result<void, Failure>>): Promise<Result<CopyFacts, Failure>>;
  close(): Promise<void>;
};

type Database = NonNullable<Config["storage"]["database"]>;

/** Holds the database for this process; refused where there is something in it. Nothing counts before the end, so `onLost` may end everything. */
export async function holdEmptyDatabase(
  database: Database,
  onLost: (failure: Failure) => void,
): Promise<Result<EmptyDatabase, Failure>> {
  const [{ bringIn, lookIntoDatabase }, { holdDatabase }] = await Promise.all([
    import("./storage/postgres/bring-in.ts"),
    import("./storage/postgres/hold.ts"),
  ]);
  const place = { ...database, synchronous: "full", statementMsMax, clock: systemClock } as const;
  const alone = await holdDatabase({ ...place, log: { error: () => {} }, onLost });
  if (!alone.ok) return alone;
  const { close } = alone.value;
  // Looked at again when it is filled; whoever unpacks a backup first wants to know before that.
  const looked = await lookIntoDatabase(place);
  if (!looked.ok || looked.value.isUsed) {
    await close();
    return looked.ok ? failure("database_not_empty", {}) : failed(looked.failure);
  }
  return ok({
    close,
    async bringIn(path, last) {
      // Brings it to the newest format; closed again, all of it lies in one file.
      const opened = openSqlite({ path, clock: systemClock });
      if (!opened.ok) return opened;
      await opened.value.close();
      return bringIn(place, () => readRows(path), last);
    },
  });
}

/** One statement counts all events. */
const statementMsMax = 3_600_000;

/** Whether a database holds nothing at all: then a restore that left its folder behind was not done. */
export async function isDatabaseEmpty(database: Database): Promise<Result<boolean, Failure>> {
  const { lookIntoDatabase } = await import("./storage/postgres/bring-in.ts");
  const looked = await lookIntoDatabase({ ...database, synchronous: "full", clock: systemClock });
  return looked.ok ? ok(!looked.value.isUsed) : failed(looked.failure);
}
