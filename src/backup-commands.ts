import { makeBackup } from "./backup.ts";
import { systemClock } from "./base/clock.ts";
import { systemIds } from "./base/ids.ts";
import type { Fetch } from "./client/client.ts";
import type { Config } from "./config/config.ts";
import { holdEmptyDatabase } from "./onto-database.ts";
import type { Failure } from "./protocol/failure.ts";
import { restoreBackup } from "./restore.ts";
import {
  type CopyCommand,
  openCounter,
  printBackup,
  printRestored,
  refuse,
  type Streams,
} from "./terminal/terminal.ts";
import type { Words } from "./words/words.ts";

type Of<N extends CopyCommand["name"]> = Extract<CopyCommand, { name: N }>;
type Parts = Streams & { readonly words: Words };

/** `agentyard backup`: through the door of whoever owns the data, so that it may be busy meanwhile. */
export async function backUp(
  { file: path, includesKey, json }: Of<"backup">,
  { fetch, leave, ...parts }: Parts & { readonly fetch: Fetch; readonly leave: AbortSignal },
): Promise<number> {
  const counter = openCounter(parts.errors, parts.words);
  const made = await makeBackup({
    ...{ fetch, path, includesKey, signal: leave },
    onProgress: ({ part, bytes }) => counter.count(part, bytes),
  });
  counter.end();
  return made.ok ? printBackup({ path, ...made.value }, { ...parts, json, includesKey }) : refuse(made.failure, parts);
}

/** `agentyard restore`, which needs no yard: nobody may use the directory, or the database server, meanwhile. */
export async function restore(
  { file: path, replaces, json }: Of<"restore">,
  { config, ...parts }: Parts & { readonly config: Config },
): Promise<number> {
  const { dataDir, filesDir, sessionDbPath } = config.paths;
  const { database } = config.storage;
  // Nothing counts before the end, so it can end here.
  const onLost = (failure: Failure) => process.exit(refuse(failure, parts));
  const counter = openCounter(parts.errors, parts.words);
  const restored = await restoreBackup({
    ...{ path, dataDir, sessionDbPath, replaces, clock: systemClock, ids: systemIds },
    ...(database !== undefined && { filesDir, holdDatabase: () => holdEmptyDatabase(database, onLost) }),
    onProgress: (bytes) => counter.count("read", bytes),
  });
  counter.end();
  if (!restored.ok) return refuse(restored.failure, parts);
  const places = database === undefined ? { dataDir } : { dataDir, filesDir };
  return printRestored({ ...places, ...restored.value }, { ...parts, json });
}
