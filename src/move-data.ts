import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "./base/clock.ts";
import { ok, type Result } from "./base/result.ts";
import type { Config } from "./config/config.ts";
import { holdData, makeFolder } from "./data-place.ts";
import { holdEmptyDatabase } from "./onto-database.ts";
import { type Failure, failure } from "./protocol/failure.ts";
import { printMoved, refuse, type Streams } from "./terminal/terminal.ts";
import type { Words } from "./words/words.ts";

type Parts = Streams & { readonly config: Config; readonly words: Words };

/** `agentyard migrate`: from the file of the data directory to a database server. The files of conversations stay where they are. */
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
  // They would not be found any more.
  if (holdsFiles(paths)) return failure("files_elsewhere", { from: dataDir, to: paths.filesDir });
  if (!makeFolder(dataDir)) return failure("data_unusable", { path: dataDir });
  const held = holdData(dataDir, systemClock.now());
  if (!held.ok) return held;
  try {
    return await move(path, storage.database, onLost);
  } finally {
    held.value.release();
  }
}

/** Files of conversations that lie elsewhere than where a server would look for them. */
function holdsFiles({ dataDir, filesDir }: Config["paths"]): boolean {
  if (dataDir === filesDir) return false;
  const folders = ["workspace", "workspaces", "kept", "trash"].map((name) => join(dataDir, name));
  return folders.some((folder) => existsSync(folder) && readdirSync(folder).length > 0);
}

async function move(
  path: string,
  database: NonNullable<Config["storage"]["database"]>,
  onLost: OnLost,
): Promise<Result<Moved, Failure>> {
  const empty = await holdEmptyDatabase(database, onLost);
  if (!empty.ok) return empty;
  try {
    const freeName = freeNameFor(path);
    const brought = await empty.value.bringIn(path);
    if (!brought.ok) return brought;
    return ok({ ...brought.value, keptAt: setAside(path, freeName) });
  } finally {
    await empty.value.close();
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
    return null; // All of it is in the other database by now: nothing has failed that would have to be done again.
  }
  // Left by who only read; all of it lies in the file. The next file of this name would be read with them.
  for (const ending of ["-wal", "-shm"]) rmSync(`${path}${ending}`, { force: true });
  return name;
}
