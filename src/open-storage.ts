import { dirname } from "node:path";
import { systemClock } from "./base/clock.ts";
import { ok, type Result } from "./base/result.ts";
import type { Config } from "./config/config.ts";
import { hasImages, makeFolder } from "./data-place.ts";
import type { Logger, Metrics } from "./observe/observe.ts";
import { type Failure, failure } from "./protocol/failure.ts";
import { fillCopy } from "./storage/sqlite/fill-copy.ts";
import { openSqlite } from "./storage/sqlite/sqlite.ts";
import type { Storage } from "./storage/storage.ts";

type Parts = {
  readonly logger: Logger;
  readonly onCommitted: Metrics["committed"];
  /** Another process has the data to itself by now. */
  readonly onLost: (failure: Failure) => void;
};

/** The storage that the settings name: the file of the data directory, or a database server, which other servers may use as well. */
export async function openStorage(
  { paths, workspace, storage: { synchronous, database } }: Config,
  parts: Parts,
): Promise<Result<Storage, Failure>> {
  const { sessionDbPath: path, filesDir } = paths;
  // The file system of an image is mounted by one process: two would write over each other.
  const isShared = workspace.disk !== "image" && !hasImages(filesDir);
  if (database !== undefined) return openOnServer({ ...database, isShared, synchronous }, parts);
  if (!makeFolder(dirname(path))) return failure("data_unusable", { path: dirname(path) });
  return openSqlite({ path, clock: systemClock, synchronous, onCommitted: parts.onCommitted });
}

type OnServer = NonNullable<Config["storage"]["database"]> &
  Pick<Config["storage"], "synchronous"> & { readonly isShared: boolean };

/** What speaks with servers is read only where there is one. */
async function openOnServer(
  database: OnServer,
  { logger, onCommitted, onLost }: Parts,
): Promise<Result<Storage, Failure>> {
  const [{ openPostgres }, { holdDatabase }] = await Promise.all([
    import("./storage/postgres/postgres.ts"),
    import("./storage/postgres/hold.ts"),
  ]);
  const hold = await holdDatabase({ ...database, clock: systemClock, log: logger, onLost });
  if (!hold.ok) return hold;
  const opened = await openPostgres({ ...database, clock: systemClock, fillCopy, onCommitted });
  if (!opened.ok) {
    await hold.value.close();
    return opened;
  }
  return ok({
    ...opened.value,
    async close() {
      await opened.value.close();
      await hold.value.close();
    },
  });
}
