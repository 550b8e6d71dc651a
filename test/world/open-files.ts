import { readdirSync, readlinkSync } from "node:fs";

/** What this process has open below a path, or at all, by path; one that has lost its name ends in "(deleted)". None where the system does not tell. */
export function openFiles(below = ""): string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)].filter((path) => path.startsWith(below));
    } catch {
      return []; // The one of this very look.
    }
  });
}
