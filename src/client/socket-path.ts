import { createHash } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";

/** Linux takes 108 bytes with the ending zero. */
const pathBytesMax = 107;

export type SocketPlace = {
  /** Must exist. */
  readonly dataDirectory: string;
  /** `XDG_RUNTIME_DIR`, where the system gives each user one. One of somebody else's is passed over. */
  readonly runtimeDirectory?: string | undefined;
  readonly temporaryDirectory: string;
  readonly uid: number;
};

/**
 * Where the processes of one user that share a data directory meet: named by the hash of its real path, because the
 * path itself is often too long for a socket.
 */
export function socketPathFor({
  dataDirectory,
  runtimeDirectory,
  temporaryDirectory,
  uid,
}: SocketPlace): Result<string, Failure<"setting_invalid">> {
  const hash = createHash("sha256").update(realpathSync(dataDirectory)).digest("hex").slice(0, 16);
  if (runtimeDirectory !== undefined && !isOthers(runtimeDirectory, uid)) {
    const path = join(runtimeDirectory, `${hash}.sock`);
    if (fits(path)) return ok(path);
    return failure("setting_invalid", {
      name: "XDG_RUNTIME_DIR",
      value: runtimeDirectory,
      instead: `/run/user/${uid}`,
    });
  }
  const ours = join(temporaryDirectory, `agentyard-${uid}`);
  const path = join(ours, `${hash}.sock`);
  if (fits(path) && makePrivate(ours, uid)) return ok(path);
  return failure("setting_invalid", { name: "TMPDIR", value: temporaryDirectory, instead: "/tmp" });
}

/**
 * `sudo -E` takes the runtime directory of another user along: they could listen in it first, and root's commands would
 * be theirs. One that is not there yet is whose it will be.
 */
function isOthers(directory: string, uid: number): boolean {
  const found = lstatSync(directory, { throwIfNoEntry: false });
  return found !== undefined && (!found.isDirectory() || found.uid !== uid || (found.mode & 0o022) !== 0);
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= pathBytesMax;
}

/** False when it is not ours: the temporary directory is shared, and whoever makes the folder first could listen in it. */
function makePrivate(directory: string, uid: number): boolean {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const found = lstatSync(directory);
    if (!found.isDirectory() || found.uid !== uid) return false;
    if ((found.mode & 0o077) !== 0) chmodSync(directory, 0o700);
    return true;
  } catch {
    return false;
  }
}
