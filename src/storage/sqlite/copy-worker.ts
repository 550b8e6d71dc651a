import { closeSync, openSync } from "node:fs";
import { backup, DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { z } from "zod";
import { makeFailure } from "../../protocol/failure.ts";
import { integer, text } from "../rows.ts";
import type { CopyFacts } from "../storage.ts";
import { type DatabaseFailure, failureOf } from "./failures.ts";

/** `isOurs`: the file was made by us, whole or not. */
export type CopyNews = { readonly facts: CopyFacts } | { readonly failure: DatabaseFailure; readonly isOurs: boolean };

/** All pages in one step. In several, every write of somebody else would make it start over: it would never end. */
const pagesMax = 2 ** 31 - 1;
const busyTimeoutMs = 5_000;

const Job = z.object({ from: z.string().optional(), to: z.string() });
const { from, to } = Job.parse(workerData);
let isOurs = false;
try {
  if (from !== undefined) {
    closeSync(openSync(to, "wx", 0o600));
    isOurs = true;
    await copy(from, to);
  }
  tell(readBack(to));
} catch (error) {
  const failure = failureOf(error);
  if (failure === undefined) throw error;
  tell({ failure, isOurs });
}

async function copy(source: string, target: string): Promise<void> {
  const database = new DatabaseSync(source, { readOnly: true, timeout: busyTimeoutMs });
  try {
    await backup(database, target, { rate: pagesMax });
  } finally {
    database.close();
  }
  const copied = new DatabaseSync(target);
  try {
    // One file, with nothing beside it: whoever reads it need not write.
    copied.exec("PRAGMA journal_mode = DELETE");
  } finally {
    copied.close();
  }
}

function readBack(path: string): CopyNews {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const said = text(database.prepare("PRAGMA integrity_check(1)").get() ?? {}, "integrity_check");
    if (said !== "ok") return { failure: makeFailure("storage_broken", { why: "damaged", said }), isOurs };
    const row = database
      .prepare(
        `SELECT (SELECT count(*) FROM conversation WHERE deleted_at IS NULL) AS conversations,
          (SELECT count(*) FROM event) AS events`,
      )
      .get();
    return { facts: { conversations: integer(row ?? {}, "conversations"), events: integer(row ?? {}, "events") } };
  } finally {
    database.close();
  }
}

function tell(news: CopyNews): void {
  parentPort?.postMessage(news);
}
