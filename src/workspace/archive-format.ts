import { createHash, type Hash } from "node:crypto";
import { z } from "zod";

// A backup is one tar file: who made it, the database, the files, and at the end the list of all of that with hashes.
// The list is written in the order of the entries, so that a reader needs to remember nothing but a running hash.

export const archiveFormat = 1;

/** The first entry. */
export const headName = "agentyard-backup.json";
export const databaseName = "sessions.db";
/** The last one. An archive without it was cut off. */
export const listName = "manifest.jsonl";
/** In place of the list: why there is none. */
export const faultName = "failed.json";

export const ArchiveHead = z.object({
  format: z.number().int(),
  agentyard: z.string(),
  protocol: z.string(),
  at: z.number(),
  /** Whether the key that secrets are locked with is in it. */
  withKey: z.boolean(),
});
export type ArchiveHead = z.infer<typeof ArchiveHead>;

export const ArchiveFault = z.object({
  code: z.string(),
  params: z.record(z.string(), z.union([z.string(), z.number()])),
});
export type ArchiveFault = z.infer<typeof ArchiveFault>;

/** What stands behind the last entry of the list. */
export const ArchiveEnd = z.object({
  conversations: z.number().int(),
  files: z.number().int(),
  bytes: z.number().int(),
  /** What could not be taken: no regular file, not readable, or gone when its turn came. At most so many are named. */
  leftOut: z.array(z.string()),
  leftOutCount: z.number().int(),
  /** Were written to all the time while they were read. */
  changing: z.array(z.string()),
});
export type ArchiveEnd = z.infer<typeof ArchiveEnd>;

/** One line of the list. `name` is the path below the data directory, in UTF-8 or, where it is none, with `bytes` of it. */
export type Listed = {
  readonly path: string;
  /** The path byte for byte, where it is no UTF-8; base64. */
  readonly raw?: string | undefined;
  readonly type: "file" | "folder" | "link";
  readonly mode: number;
  /** Milliseconds since 1970. */
  readonly mtime: number;
  readonly bytes: number;
  /** SHA-256 of a file. */
  readonly hash?: string | undefined;
  /** Where a link leads. */
  readonly target?: string | undefined;
};

/** Always the same bytes for the same entry: both sides make them, and compare. */
export function lineOf({ path, raw, type, mode, mtime, bytes, hash, target }: Listed): string {
  return `${JSON.stringify({ path, raw, type, mode, mtime, bytes, hash, target })}\n`;
}

export function endLineOf(end: ArchiveEnd): string {
  return `${JSON.stringify({ end })}\n`;
}

export function sha256(): Hash {
  return createHash("sha256");
}
