import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "../base/fault.ts";

const logFilesMax = 50;
const logName = /^agentyard-\d{8}-\d{6}-(?<pid>\d+)\.log$/;

/**
 * Keeps the newest log files of a folder, and those of processes that still write: fifty short commands must not take a
 * server's log away. What cannot be listed or removed stays: old logs are nobody's trouble.
 */
export async function removeOldLogs(dir: string): Promise<void> {
  const names = await readdir(dir).catch(() => []);
  const logs = names.filter((name) => logName.test(name)).sort();
  const old = logs.slice(0, -logFilesMax).filter((name) => !isRunning(Number(logName.exec(name)?.groups?.pid)));
  await Promise.allSettled(old.map((name) => rm(join(dir, name))));
}

/** A process of that number is there; whose it is does not matter. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === "EPERM";
  }
}
