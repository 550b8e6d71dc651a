import { createHmac } from "node:crypto";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemCodeOrThrow } from "./base/fault.ts";
import type { Ids } from "./base/ids.ts";
import { ok, type Result } from "./base/result.ts";
import type { Config } from "./config/config.ts";
import { makeFolder } from "./data-place.ts";
import { type Failure, failure } from "./protocol/failure.ts";
import { openSecretKey } from "./secret-key.ts";
import type { Present, Storage } from "./storage/storage.ts";

type Parts = {
  readonly config: Pick<Config, "paths" | "secretKey" | "storage">;
  readonly storage: Storage;
  readonly ids: Ids;
};

/**
 * All servers on one database must have the same key for secrets and see the same files: one that has others is told so
 * before it does anything. What the first one has counts, until nothing rests on it any more. It is asked once more by a
 * server that is known to live: until then another one that began in the same moment could take it for nobody.
 */
export async function agreeWithOthers(parts: Parts): Promise<Result<void, Failure>> {
  if (parts.config.storage.database === undefined) return ok(undefined);
  const sameKey = await agreeOnKey(parts);
  return sameKey.ok ? agreeOnFiles(parts) : sameKey;
}

async function agreeOnKey({ config, storage, ids }: Parts): Promise<Result<void, Failure>> {
  const key = openSecretKey({ given: config.secretKey, dataDir: config.paths.dataDir, ids }).make();
  if (!key.ok) return key;
  // Says nothing of the key but whether another one is the same.
  const check = createHmac("sha256", key.value).update("agentyard: the same key?").digest("hex").slice(0, 32);
  const agreed = await storage.agree("key", check);
  if (!agreed.ok || agreed.value === check) return agreed.ok ? ok(undefined) : agreed;
  const anew = await storage.agreeAnew("key", check, ({ servers, hasSecrets }) => servers.length === 0 && !hasSecrets);
  if (!anew.ok) return anew;
  return anew.value ? ok(undefined) : failure("database_unusable", { why: "other_key", said: "" });
}

const markName = ".agentyard-files";

async function agreeOnFiles({ config, storage, ids }: Parts): Promise<Result<void, Failure>> {
  const { filesDir } = config.paths;
  const path = join(filesDir, markName);
  const mark = makeFolder(filesDir) ? markIn(path, ids) : undefined;
  if (mark === undefined) return failure("data_unusable", { path: filesDir });
  const agreed = await storage.agree("files", mark.id);
  if (!agreed.ok || agreed.value === mark.id) return agreed.ok ? ok(undefined) : agreed;
  const isFree = ({ servers, hasFiles }: Present) => servers.length === 0 && !hasFiles;
  const anew = await storage.agreeAnew("files", mark.id, isFree);
  if (!anew.ok || anew.value) return anew.ok ? ok(undefined) : anew;
  if (mark.isNew) rmSync(path, { force: true });
  return failure("database_unusable", { why: "other_files", said: `${path}: ${agreed.value}` });
}

type Mark = { readonly id: string; readonly isNew: boolean };

/** Of several that begin in one moment one makes it, and it is never seen half. */
function markIn(path: string, ids: Ids): Mark | undefined {
  const there = readMark(path);
  if (there !== undefined) return { id: there, isNew: false };
  const id = ids.hex(32);
  const draft = `${path}-${id}`;
  try {
    writeFileSync(draft, `${id}\n`, { mode: 0o600, flush: true });
    linkSync(draft, path);
    return { id, isNew: true };
  } catch (error) {
    systemCodeOrThrow(error);
    const made = readMark(path);
    return made === undefined ? undefined : { id: made, isNew: false };
  } finally {
    rmSync(draft, { force: true });
  }
}

function readMark(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim() || undefined;
  } catch (error) {
    systemCodeOrThrow(error);
    return undefined;
  }
}

/**
 * Whoever owns a data directory knows that the process that had it before is dead: nobody need wait until that server is
 * missed. The answer notes under which name this one is known.
 */
export async function buryPredecessor(storage: Storage, dataDir: string): Promise<(server: string) => void> {
  const path = join(dataDir, "server");
  const before = readMark(path);
  if (before !== undefined) await storage.bury(before);
  return (server) => {
    try {
      writeFileSync(path, `${server}\n`, { mode: 0o600 });
    } catch (error) {
      // Then it is missed in three seconds.
      systemCodeOrThrow(error);
    }
  };
}
