import { rm } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import { failed, ok, type Result } from "../../base/result.ts";
import type { CopyFacts, StorageFailure } from "../storage.ts";
import type { CopyNews } from "./copy-worker.ts";
import type { DatabaseFailure } from "./failures.ts";

/**
 * A copy of the database as it is at one moment, read back before it counts as made. In a thread of its own, with
 * connections of its own: neither streams nor writers wait for it.
 */
export async function copyDatabase(from: string, to: string): Promise<Result<CopyFacts, StorageFailure>> {
  const news = await inThread({ from, to });
  if ("facts" in news) return ok(news.facts);
  await removeCopy(to, news.isOurs);
  return failed(news.failure);
}

/** What a copy holds, read in full; a failure where it is damaged. Nothing is changed, and nothing left beside it. */
export async function readCopy(path: string): Promise<Result<CopyFacts, DatabaseFailure>> {
  const news = await inThread({ to: path });
  return "facts" in news ? ok(news.facts) : failed(news.failure);
}

function inThread(workerData: { readonly from?: string; readonly to: string }): Promise<CopyNews> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./copy-worker.ts", import.meta.url), { name: "copy", env: {}, workerData });
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", (code) => reject(new Error(`the thread that copies ended with ${code}`)));
  });
}

/** What was there before us is not ours to remove. */
async function removeCopy(path: string, isOurs: boolean): Promise<void> {
  if (isOurs) for (const name of [path, `${path}-journal`]) await rm(name, { force: true });
}
