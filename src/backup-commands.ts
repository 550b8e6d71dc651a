import { makeBackup } from "./backup.ts";
import { systemClock } from "./base/clock.ts";
import { systemIds } from "./base/ids.ts";
import type { Fetch } from "./client/client.ts";
import type { Config } from "./config/config.ts";
import { makeFailure } from "./protocol/failure.ts";
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
  return made.ok ? printBackup({ path, ...made.value }, { ...parts, json }) : refuse(made.failure, parts);
}

/** `agentyard restore`, which needs no yard: nobody may use the directory meanwhile. */
export async function restore(
  { file: path, replaces, json }: Of<"restore">,
  { config, ...parts }: Parts & { readonly config: Config },
): Promise<number> {
  // It would lie beside the database that is used, and look like a restore.
  if (config.storage.database !== undefined)
    return refuse(makeFailure("database_unusable", { why: "restore", said: "" }), parts);
  const { dataDir, sessionDbPath } = config.paths;
  const counter = openCounter(parts.errors, parts.words);
  const restored = await restoreBackup({
    ...{ path, dataDir, sessionDbPath, replaces, clock: systemClock, ids: systemIds },
    onProgress: (bytes) => counter.count("read", bytes),
  });
  counter.end();
  return restored.ok
    ? printRestored({ dataDir, ...restored.value }, { ...parts, json })
    : refuse(restored.failure, parts);
}
