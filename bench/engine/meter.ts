/** What this process has used up to now; a measure is the difference of two readings. */
import { existsSync, readFileSync } from "node:fs";

export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Bytes this process caused to be sent to the disk, or null where the system does not tell (only Linux does). */
export function diskBytes(): number | null {
  if (!existsSync("/proc/self/io")) return null;
  const match = /^write_bytes: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"));
  return match === null ? null : Number(match[1]);
}

export function rssPeakMb(): number {
  return process.resourceUsage().maxRSS / 1024;
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
