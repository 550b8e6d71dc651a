import { existsSync, readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";

/** Ten times of what the tests were seen to need at once. */
const inMemoryBytesMin = 8 * 1024 ** 3;

/**
 * In memory where there is room for it. A third of the time of a story on a disk is the wait for its syncs, and what those are
 * for is shown by the tests of power cuts, which keep account of each (test/crashes/power-cut-*.test.ts).
 */
export function temporaryRoot(): string {
  const inMemory = "/dev/shm";
  const mounts = existsSync("/proc/self/mounts") ? readFileSync("/proc/self/mounts", "utf8") : "";
  const [, options = "noexec"] = /^\S+ \/dev\/shm tmpfs (\S+)/m.exec(mounts) ?? [];
  if (options.split(",").includes("noexec")) return tmpdir();
  const { bavail, bsize } = statfsSync(inMemory);
  return bavail * bsize >= inMemoryBytesMin ? inMemory : tmpdir();
}
