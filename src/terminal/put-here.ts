import type { Stats } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { systemCode, systemCodeOrThrow } from "../base/fault.ts";
import { failed, ok, type Result } from "../base/result.ts";
import { type Failure, failure, makeFailure } from "../protocol/failure.ts";
import type { Chat } from "./chat-state.ts";
import { safeLine } from "./safe-text.ts";

/**
 * A file of this machine, with the folders on the way: under a name of its own until it is complete, so that what was
 * there before stays where it cannot be. What the system says against it is thrown, and `hereFault` has words for it.
 */
export async function putHere<T, E>(
  chat: Chat,
  target: string,
  fill: (handle: FileHandle) => Promise<Result<T, E>>,
): Promise<Result<T, E | Failure>> {
  // A device or a pipe would give way to a file as well, for whoever may do so.
  const there = await lookHere(chat, stat, target);
  if (!there.ok) return there;
  if (there.value?.isFile() === false) return failure("not_a_file", { path: shownHere(chat, target) });
  const part = join(dirname(target), `.${chat.ids.uuid()}.part`);
  try {
    await mkdir(dirname(target), { recursive: true });
    const filled = await filledBy(await open(part, "wx"), fill);
    if (filled.ok) await rename(part, target);
    return filled;
  } finally {
    await rm(part, { force: true }).catch(systemCodeOrThrow); // Where it could not even be begun.
  }
}

/** Closes the file in any case. */
async function filledBy<T>(handle: FileHandle, fill: (handle: FileHandle) => Promise<T>): Promise<T> {
  try {
    return await fill(handle);
  } finally {
    await handle.close();
  }
}

/** Undefined where nothing is. What cannot be looked at may well be there, and is not to be written over unasked. */
export async function lookHere(
  chat: Chat,
  look: (target: string) => Promise<Stats>,
  target: string,
): Promise<Result<Stats | undefined, Failure>> {
  try {
    return ok(await look(target));
  } catch (error) {
    return systemCode(error) === "ENOENT" ? ok(undefined) : failed(hereFault(chat, target, error));
  }
}

/** What this machine says against a file. */
export function hereFault(chat: Chat, target: string, error: unknown): Failure {
  const path = shownHere(chat, target);
  const code = systemCodeOrThrow(error);
  if (code === "EACCES" || code === "EPERM") {
    return makeFailure("permission_denied", { path, folder: "", why: "system" });
  }
  if (code === "EISDIR" || code === "EEXIST" || code === "ENOTDIR") return makeFailure("not_a_file", { path });
  const why = code === "ENOSPC" || code === "EDQUOT" ? "full" : code === "EROFS" ? "read_only" : "io";
  return makeFailure("write_failed", { path, why });
}

/** From the folder where the terminal was started, unless it lies elsewhere. */
export function shownHere({ place }: Chat, target: string): string {
  const below = relative(place.folder, target);
  return safeLine(below === "" ? "." : below.startsWith("..") ? target : below, 120);
}
