import { readdirSync } from "node:fs";
import { systemCode, systemCodeOrThrow } from "../base/fault.ts";
import type { Result } from "../base/result.ts";
import { failed } from "../base/result.ts";
import { makeFailure } from "../protocol/failure.ts";
import type { DiskFault } from "../words/words.ts";
import type { FileFailure } from "./one-workspace.ts";
import { shownPath } from "./path.ts";

/** What a walk through a workspace may find, thrown inside workspace/ and caught by `attempt` alone. */
export class Refused extends Error {
  readonly reason: FileFailure;

  constructor(reason: FileFailure, options?: ErrorOptions) {
    super(reason.code, options);
    this.reason = reason;
  }
}

/** What a source of bytes throws whose sender broke off: the transfer's fault. Anything else that it throws is ours. */
export class BrokenOff extends Error {}

export type Operation = "read" | "write";

/** Runs one operation of the file system; what the world does to it becomes a value, our own mistakes are thrown on. */
export async function attempt<T>(
  operation: Operation,
  path: string,
  work: () => Promise<T> | T,
): Promise<{ readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: FileFailure }> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return failed(failureOf(error, operation, path));
  }
}

export function failureOf(error: unknown, operation: Operation, path: string): FileFailure {
  if (error instanceof Refused) return error.reason;
  const code = systemCodeOrThrow(error);
  const shown = shownPath(path);
  switch (code) {
    case "ENOENT":
      return makeFailure("file_not_found", { path: shown, near: "" });
    case "ENOTDIR":
      return makeFailure("not_a_folder", { path: shown });
    case "EISDIR":
    case "ENOTEMPTY":
    case "EEXIST":
      return makeFailure("not_a_file", { path: shown });
    case "ELOOP":
      return makeFailure("permission_denied", { path: shown, folder: "", why: "link" });
    case "ENXIO":
    case "ENODEV":
      return makeFailure("permission_denied", { path: shown, folder: "", why: "special" });
    case "EACCES":
    case "EPERM":
      return makeFailure("permission_denied", { path: shown, folder: "", why: "system" });
    case "EXDEV":
      return makeFailure("permission_denied", { path: shown, folder: "", why: "elsewhere" });
    case "ENAMETOOLONG":
      return makeFailure("path_invalid", { path: shown, why: "too_long" });
    default:
      return makeFailure(operation === "write" ? "write_failed" : "read_failed", {
        path: shown,
        why: diskFault(code),
      });
  }
}

/** The same for folders of our own, where no path of a user is involved. */
export async function attemptDisk<T>(work: () => Promise<T> | T): Promise<Result<T, DiskFault>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return failed(diskFault(systemCodeOrThrow(error)));
  }
}

export function diskFault(code: string): DiskFault {
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
    case "EFBIG":
      return "full";
    case "EROFS":
      return "read_only";
    case "EMFILE":
    case "ENFILE":
      return "too_many_open";
    case "ESTALE":
      return "changed";
    default:
      return "io";
  }
}

/** What a call of the file system gives, or undefined when there is nothing at the place. */
export async function ifThere<T>(wanted: Promise<T>): Promise<T | undefined> {
  try {
    return await wanted;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** What lies in a folder, as far as it can be read. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return [];
  }
}
