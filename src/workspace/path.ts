import { ok, type Result } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import type { FileFailure, Workspace } from "./one-workspace.ts";

/** Names in a path, and bytes of all of it: more than that no system call takes. What lies deeper is counted and removed only. */
const namesMax = 64;
const pathBytesMax = 4096;
const nameBytesMax = 255;
const shownCharactersMax = 200;

/**
 * A path as agents and users write it, as the names below the root; none for the root itself. Refuses everything that
 * could lead outside before any file is touched: a `..` anywhere, absolute paths, also those of Windows and the shell.
 */
export function parsePath(path: string): Result<readonly string[], FileFailure> {
  if (path.includes("..") || isAbsolute.test(path)) return failure("path_traversal_blocked", { path: shownPath(path) });
  const invalid = (why: "control_character" | "backslash" | "too_long" | "too_deep") =>
    failure("path_invalid", { path: shownPath(path), why });
  if (hasControlCharacter.test(path) || !path.isWellFormed()) return invalid("control_character");
  if (path.includes("\\")) return invalid("backslash");
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  if (names.some((name) => Buffer.byteLength(name) > nameBytesMax)) return invalid("too_long");
  if (names.length > namesMax) return invalid("too_deep");
  if (Buffer.byteLength(names.join("/")) > pathBytesMax) return invalid("too_long");
  return ok(names);
}

/** Whether no path leads to anything in a folder that has so many names above it, which take so many bytes with their slashes. */
export function isTooDeep({ names, bytes }: { readonly names: number; readonly bytes: number }): boolean {
  return names >= namesMax || bytes >= pathBytesMax;
}

const isAbsolute = /^\s*(\/|\\|~\/|~$|[A-Za-z]:([\\/]|$))/;
// C0, DEL, C1 and the two line separators: each could start a line of its own in a log or a prompt.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for.
const hasControlCharacter = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** The path of something that can be changed: a name, in a folder where this kind of workspace is written. */
export function parseWritable(kind: Workspace["kind"], path: string): Result<readonly string[], FileFailure> {
  const names = parsePath(path);
  if (!names.ok) return names;
  const [first] = names.value;
  if (first === undefined) return failure("path_invalid", { path: shownPath(path), why: "no_name" });
  if (kind === "task") return names;
  const isInside = writableFolders.includes(first);
  if (isInside && names.value.length > 1) return names;
  if (isInside) return failure("not_a_file", { path: shownPath(path) });
  const folder = names.value.length > 1 ? shownPath(first) : ".";
  return failure("permission_denied", { path: shownPath(path), folder, why: "not_writable" });
}

/** Where a conversation may write; a task may write everywhere in its own. */
export const writableFolders: readonly string[] = ["uploads", "outputs", "temp"];

/** A path in an answer: one line, not too long, quoted where it is not plain. */
export function shownPath(path: string): string {
  const short = path.slice(0, shownCharactersMax);
  const shown = isPlain.test(short) ? short : JSON.stringify(short.toWellFormed());
  return short.length < path.length ? `${shown}…` : shown;
}

const isPlain = /^[\p{L}\p{M}\p{N} ._\-+=@()[\]{}（）【】、，。：·/]*$/u;
