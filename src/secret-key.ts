import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { systemCodeOrThrow } from "./base/fault.ts";
import type { Ids } from "./base/ids.ts";
import { ok, type Result } from "./base/result.ts";
import { type Failure, failure } from "./protocol/failure.ts";
import { syncNamesOf } from "./storage/sqlite/sync-folder.ts";
import type { SecretKey } from "./users/users.ts";

export type SecretKeyWanted = {
  /** `AGENTYARD_KEY`, which counts before the file. */
  readonly given: string | undefined;
  readonly dataDir: string;
  readonly ids: Ids;
};

/** Shorter ones could be guessed. The same holds for `AGENTYARD_KEY`. */
const charactersMin = 32;

/** What stored secrets are sealed under: the operator's own key, or the file `key`, made when the first secret is stored. */
export function openSecretKey({ given, dataDir, ids }: SecretKeyWanted): SecretKey {
  const path = join(dataDir, "key");
  const find = () => (given === undefined ? readKey(path) : ok(given));
  return {
    find,
    make() {
      const found = find();
      if (!found.ok) return found;
      return found.value === undefined
        ? writeKey(path, Buffer.from(ids.hex(64), "hex").toString("base64url"))
        : ok(found.value);
    },
  };
}

type Unusable = Failure<"secret_key_unusable">;

function readKey(path: string): Result<string | undefined, Unusable> {
  try {
    const text = readFileSync(path, "utf8").trim();
    return text.length < charactersMin ? failure("secret_key_unusable", { why: "unfit" }) : ok(text);
  } catch (error) {
    return systemCodeOrThrow(error) === "ENOENT"
      ? ok(undefined)
      : failure("secret_key_unusable", { why: "unreadable" });
  }
}

/** It is whole and on the disk before anything is sealed under it. */
function writeKey(path: string, text: string): Result<string, Unusable> {
  const part = `${path}.part`;
  try {
    rmSync(part, { force: true });
    const file = openSync(part, "wx", 0o600);
    try {
      writeSync(file, `${text}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(part, path);
    syncNamesOf(path);
    return ok(text);
  } catch (error) {
    systemCodeOrThrow(error);
    return failure("secret_key_unusable", { why: "unwritable" });
  }
}
