import { existsSync, renameSync, rmSync } from "node:fs";
import { systemClock } from "./base/clock.ts";
import { failed, ok, type Result } from "./base/result.ts";
import type { Config } from "./config/config.ts";
import { makeFolder } from "./data-place.ts";
import { type Failure, failure } from "./protocol/failure.ts";
import { protocolVersion } from "./protocol/routes.ts";
import { takeOwnership } from "./storage/sqlite/owner-lock.ts";
import { readRows } from "./storage/sqlite/read-rows.ts";
import { openSqlite } from "./storage/sqlite/sqlite.ts";
import { printMoved, refuse, type Streams } from "./terminal/terminal.ts";
import type { Words } from "./words/words.ts";

type Parts = Streams & { readonly config: Config; readonly words: Words };

/** `agentyard migrate`: from the file of the data directory to a server. The files of conversations stay where they are. */
export async function moveData({ json }: { readonly json: boolean }, { config, ...parts }: Parts): Promise<number> {
  // Nothing counts before the end, so it can end here.
  const onLost = (failure: Failure) => process.exit(refuse(failure, parts));
  const moved = await whileOwned(config, onLost);
  return moved.ok
    ? printMoved(moved.value, { ...parts, json, path: config.paths.sessionDbPath })
    : refuse(moved.failure, parts);
}

/** `keptAt`: what the file is called now; null where it could not be given another name. */
type Moved = { readonly conversations: number; readonly events: number; readonly keptAt: string | null };

type OnLost = (failure: Failure) => void;

/** Nobody else may use either side meanwhile. */
async function whileOwned({ paths, storage }: Config, onLost: OnLost): Promise<Result<Moved, Failure>> {
  const { dataDir, sessionDbPath: path } = paths;
  if (storage.database === undefined) return failure("database_not_set", {});
  if (!existsSync(path)) return failure("data_missing", { path: dataDir });
  if (!makeFolder(dataDir)) return failure("data_unusable", { path: dataDir });
  const owner = { pid: process.pid, startedAt: systemClock.now(), socket: "", protocol: protocolVersion };
  const taken = takeOwnership(dataDir, owner);
  if (!taken.ok) {
    if (taken.failure.kind === "failed") return failed(taken.failure.failure);
    return failure("data_in_use", { pid: taken.failure.owner?.pid ?? 0 });
  }
  try {
    return await move(path, { ...storage.database, synchronous: "full", statementMsMax }, onLost);
  } finally {
    taken.value.release();
  }
}

/** One statement counts all events. */
const statementMsMax = 3_600_000;

type Place = NonNullable<Config["storage"]["database"]> & { readonly synchronous: "full" };

async function move(path: string, place: Place, onLost: OnLost): Promise<Result<Moved, Failure>> {
  // Brings it to the newest format; closed again, all of it lies in one file.
  const opened = openSqlite({ path, clock: systemClock });
  if (!opened.ok) return opened;
  await opened.value.close();
  const [{ bringIn }, { holdAlone }] = await Promise.all([
    import("./storage/postgres/bring-in.ts"),
    import("./storage/postgres/alone.ts"),
  ]);
  const onServer = { ...place, clock: systemClock };
  const alone = await holdAlone({ ...onServer, log: { error: () => {} }, onLost });
  if (!alone.ok) return alone;
  try {
    const freeName = freeNameFor(path);
    const brought = await bringIn(onServer, () => readRows(path));
    if (!brought.ok) return brought;
    return ok({ ...brought.value, keptAt: setAside(path, freeName) });
  } finally {
    await alone.value.close();
  }
}

/** What was moved before stays where it is. */
function freeNameFor(path: string): string {
  let name = `${path}.moved`;
  for (let count = 2; existsSync(name); count += 1) name = `${path}.moved-${count}`;
  return name;
}

/** Under its own name it would be taken for the data by whoever forgets the variable. */
function setAside(path: string, name: string): string | null {
  try {
    renameSync(path, name);
  } catch {
    return null; // All of it is on the server by now: nothing has failed that would have to be done again.
  }
  // Left by who only read; all of it lies in the file. The next file of this name would be read with them.
  for (const ending of ["-wal", "-shm"]) rmSync(`${path}${ending}`, { force: true });
  return name;
}
