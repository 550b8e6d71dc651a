import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { systemCode, systemCodeOrThrow } from "../../base/fault.ts";
import type { Ids } from "../../base/ids.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { checkedNames } from "../guest/names-below.ts";

// The folder that servers and hosts share, each by a path of its own. Names below it travel, paths never do.

/** Not in `fs.constants`; the same on x64 and arm64. Opens a place without the right to read it. */
const openPath = 0x200000;
const folderFlags = openPath | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Below the shared folder, for tokens. */
const tokensName = ".sandbox-hosts";
const tokenName = "token";

/** A folder with a file in it that only whoever sees the same files can read. */
export type Token = {
  readonly path: readonly string[];
  readonly text: string;
  /** Device and inode of the folder. */
  readonly mark: string;
  remove(): void;
};

/** Made for one look, and as closed as the folder of a conversation is. */
export function makeToken(root: string, ids: Ids): Result<Token, string> {
  const path = [tokensName, ids.hex(32)];
  const folder = join(root, ...path);
  const text = ids.hex(32);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    // Not both at once: below /proc, for one, Node would try without an end.
    if (!existsSync(join(root, tokensName))) makeTokens(join(root, tokensName));
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(join(folder, tokenName), text, { mode: 0o600 });
    return ok({ path, text, mark: markAt(root, path), remove });
  } catch (error) {
    remove();
    return failed(systemCodeOrThrow(error));
  }
}

function makeTokens(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o711 });
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error; // Another server was faster.
  }
}

/** What a host sees where the token should be. */
export function findToken(
  root: string,
  { path, text }: { readonly path: readonly string[]; readonly text: string },
): Result<{ readonly mark: string }, string> {
  const names = checkedNames(path);
  if (names === undefined || names[0] !== tokensName || names.length !== 2) return failed("path");
  try {
    const mark = markAt(root, names);
    const found = readFileSync(join(root, ...names, tokenName), "utf8");
    return found === text ? ok({ mark }) : failed("other");
  } catch (error) {
    return failed(systemCodeOrThrow(error));
  }
}

function markAt(root: string, names: readonly string[]): string {
  const opened = openBelow(realpathSync(root), names);
  try {
    return markOf(opened);
  } finally {
    closeSync(opened);
  }
}

export function markOf(fd: number): string {
  const { dev, ino } = fstatSync(fd, { bigint: true });
  return `${dev}:${ino}`;
}

/** Name by name, and through no link: whoever can write to a folder in between changes nothing. The caller closes it. */
export function openBelow(root: string, names: readonly string[]): number {
  let folder = openSync(root, folderFlags);
  for (const name of names) {
    const above = folder;
    try {
      folder = openSync(`/proc/self/fd/${above}/${name}`, folderFlags);
    } finally {
      closeSync(above);
    }
  }
  return folder;
}
