import { dirname } from "node:path";
import { systemClock } from "./base/clock.ts";
import { ok, type Result } from "./base/result.ts";
import type { Config } from "./config/config.ts";
import { makeFolder } from "./data-place.ts";
import type { Logger, Metrics } from "./observe/observe.ts";
import { type Failure, failure } from "./protocol/failure.ts";
import { fillCopy } from "./storage/sqlite/fill-copy.ts";
import { openSqlite } from "./storage/sqlite/sqlite.ts";
import type { Storage } from "./storage/storage.ts";

type Parts = {
  readonly logger: Logger;
  readonly onCommitted: Metrics["committed"];
  /** Another process has the data by now. */
  readonly onLost: (failure: Failure) => void;
};

/** The storage that the settings name, for a process that has it to itself: the file of the data directory, or a server. */
export async function openStorage(
  { paths, storage: { synchronous, database } }: Config,
  parts: Parts,
): Promise<Result<Storage, Failure>> {
  if (database !== undefined) return openOnServer({ ...database, synchronous }, parts);
  const { sessionDbPath: path } = paths;
  if (!makeFolder(dirname(path))) return failure("data_unusable", { path: dirname(path) });
  return openSqlite({ path, clock: systemClock, synchronous, onCommitted: parts.onCommitted });
}

type OnServer = NonNullable<Config["storage"]["database"]> & Pick<Config["storage"], "synchronous">;

/** What speaks with servers is read only where there is one. */
async function openOnServer(
  database: OnServer,
  { logger, onCommitted, onLost }: Parts,
): Promise<Result<Storage, Failure>> {
  const [{ openPostgres }, { holdAlone }] = await Promise.all([
    import("./storage/postgres/postgres.ts"),
    import("./storage/postgres/alone.ts"),
  ]);
  const alone = await holdAlone({ ...database, clock: systemClock, log: logger, onLost });
  if (!alone.ok) return alone;
  const opened = await openPostgres({ ...database, clock: systemClock, fillCopy, onCommitted });
  if (!opened.ok) {
    await alone.value.close();
    return opened;
  }
  return ok({
    ...opened.value,
    async close() {
      await opened.value.close();
      await alone.value.close();
    },
  });
}
