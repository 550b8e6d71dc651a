import { readFileSync } from "node:fs";

const pageBytes = 4096;
const ticksPerMs = 0.1;

/** What all processes below one use, as the kernel tells it of each; those that are gone count for their parents. */
export function usedBelow(pid: number): { memoryBytes: number; processes: number; cpuMs: number } {
  const below = textOf(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  const used = { memoryBytes: 0, processes: 0, cpuMs: 0 };
  for (const child of below) {
    const deeper = usedBelow(child);
    // After the name, which may have spaces: of these the 12th to the 15th are its time and that of its children.
    const fields = textOf(`/proc/${child}/stat`).split(") ").at(-1)?.split(" ").map(Number) ?? [];
    const ticks = fields.slice(11, 15).reduce((sum, count) => sum + count, 0);
    used.memoryBytes += deeper.memoryBytes + Number(textOf(`/proc/${child}/statm`).split(" ")[1] ?? 0) * pageBytes;
    used.processes += deeper.processes + 1;
    used.cpuMs += deeper.cpuMs + ticks / ticksPerMs;
  }
  return used;
}

/** Empty where the process is gone. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
