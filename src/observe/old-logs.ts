import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

const logFilesMax = 50;

/** Keeps the newest log files of a folder. What cannot be listed or removed stays: old logs are nobody's trouble. */
export async function removeOldLogs(dir: string): Promise<void> {
  const names = await readdir(dir).catch(() => []);
  const logs = names.filter((name) => /^agentyard-\d{8}-\d{6}-\d+\.log$/.test(name)).sort();
  const old = logs.slice(0, -logFilesMax);
  await Promise.allSettled(old.map((name) => rm(join(dir, name))));
}
