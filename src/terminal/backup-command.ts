import type { Writable } from "node:stream";
import type { Words } from "../words/words.ts";
import type { OutputStream } from "./console.ts";
import { exitCodes } from "./exit-codes.ts";
import { formatBytes, formatTime, jsonLine } from "./format.ts";
import { safeLine } from "./safe-text.ts";

type Parts = { readonly output: Writable; readonly words: Words; readonly json: boolean };

/** What a backup holds. */
export type BackupReport = {
  readonly path: string;
  readonly bytes: number;
  readonly conversations: number;
  readonly files: number;
  /** Paths that could not be taken (the first ones), and how many they are. */
  readonly leftOut: readonly string[];
  readonly leftOutCount: number;
  /** Were written to all the time while they were read. */
  readonly changing: readonly string[];
  /** Whether the key that secrets are locked with is in it. */
  readonly hasKey: boolean;
};

const pathCellsMax = 200;

/** `agentyard backup`, when it is done. */
export function printBackup(
  made: BackupReport,
  { output, words, json, includesKey }: Parts & { readonly includesKey: boolean },
): number {
  const { backups: texts } = words.terminal;
  const { path, bytes, conversations, files, leftOut, leftOutCount, changing, hasKey } = made;
  const names = (paths: readonly string[]) => paths.map((one) => safeLine(one, pathCellsMax)).join(", ");
  const lines = [
    texts.made({ path: safeLine(path, pathCellsMax), size: formatBytes(bytes, words) }),
    texts.what({ conversations, files }),
    ...(leftOutCount === 0 ? [] : [texts.leftOut({ count: leftOutCount, paths: names(leftOut) })]),
    ...(changing.length === 0 ? [] : [texts.changing({ paths: names(changing) })]),
    ...(includesKey && !hasKey ? [texts.noKey()] : []),
  ];
  output.write(json ? jsonLine(made) : `${lines.join("\n")}\n`);
  return exitCodes.done;
}

/** What came back. */
export type Restored = {
  readonly dataDir: string;
  /** Where the files are, where a server has the database. */
  readonly filesDir?: string;
  readonly conversations: number;
  readonly files: number;
  readonly at: number;
  readonly agentyard: string;
  readonly keptAt: string | undefined;
  /** The same for the files, where they lie elsewhere. */
  readonly filesKeptAt?: string | undefined;
};

/** `agentyard restore`, when it is done. */
export function printRestored(restored: Restored, { output, words, json }: Parts): number {
  const { backups: texts } = words.terminal;
  const { dataDir: path, filesDir, conversations, files, at, agentyard: version, keptAt, filesKeptAt } = restored;
  const lines = [
    filesDir === undefined ? texts.restored({ path }) : texts.restoredThere({ path: filesDir }),
    texts.what({ conversations, files }),
    texts.from({ at: formatTime(at), version: safeLine(version, pathCellsMax) }),
    ...[keptAt, filesKeptAt].flatMap((kept) => (kept === undefined ? [] : [texts.kept({ path: kept })])),
  ];
  output.write(json ? jsonLine({ ...restored, keptAt: keptAt ?? null }) : `${lines.join("\n")}\n`);
  return exitCodes.done;
}

/** `agentyard migrate`, when it is done. */
export function printMoved(
  moved: { readonly conversations: number; readonly events: number; readonly keptAt: string | null },
  { output, words, json, path }: Parts & { readonly path: string },
): number {
  const { backups: texts } = words.terminal;
  const { keptAt } = moved;
  const lines = [texts.moved(moved), keptAt === null ? texts.stays({ path }) : texts.kept({ path: keptAt })];
  output.write(json ? jsonLine(moved) : `${lines.join("\n")}\n`);
  return exitCodes.done;
}

const stepBytes = 32 * 1024 ** 2;

/** A line that counts up while something large is copied, on a screen only. */
export function openCounter(
  errors: OutputStream,
  words: Words,
): { count(part: "write" | "compare" | "read", bytes: number): void; end(): void } {
  const { backups: texts } = words.terminal;
  let shownAt = 0;
  return {
    count(part, bytes) {
      if (errors.isTTY !== true || bytes < shownAt + stepBytes) {
        if (bytes < shownAt) shownAt = 0;
        return;
      }
      shownAt = bytes;
      errors.write(`\r${texts.progress[part]({ size: formatBytes(bytes, words) })}\u001b[K`);
    },
    end() {
      if (shownAt > 0) errors.write("\r\u001b[K");
    },
  };
}
