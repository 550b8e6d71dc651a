import { outputBytes } from "./output.ts";

/** Room for what stands around the lines. */
const frameBytes = 500;

/** As many entries from the beginning as fit, and how many are left. */
export function fitEntries(
  entries: readonly string[],
  { countMax, bytesMax }: { countMax: number; bytesMax: number },
): { shown: readonly string[]; left: number } {
  let room = bytesMax - frameBytes;
  let count = 0;
  for (const entry of entries.slice(0, countMax)) {
    room -= outputBytes(entry) + 1;
    if (room < 0) break;
    count += 1;
  }
  return { shown: entries.slice(0, count), left: entries.length - count };
}
