import type { Words } from "../words/words.ts";
import type { Console } from "./console.ts";
import { formatBytes } from "./format.ts";
import { cellsOf, safeLine } from "./safe-text.ts";
import type { Style } from "./style.ts";

type Progress = { readonly name: string; readonly percent: number; readonly size: string };
type Parts = {
  readonly console: Pick<Console, "status" | "columns">;
  readonly style: Style;
  readonly words: Words;
};

/** A smaller file is there before anybody could read how far it is. */
const progressBytesMin = 5_000_000;

/** Says how far a large file is in a passing line. Its name gets what the rest leaves of the line. */
export function progressOf(
  { name, bytes }: { readonly name: string; readonly bytes: number },
  line: (progress: Progress) => string,
  { console, style, words }: Parts,
): ((doneBytes: number) => void) | undefined {
  if (bytes <= progressBytesMin) return undefined;
  const size = formatBytes(bytes, words);
  let shownPercent = -1;
  return (doneBytes) => {
    const percent = Math.min(100, Math.floor((100 * doneBytes) / bytes));
    if (percent === shownPercent) return;
    shownPercent = percent;
    const cellsLeft = console.columns - 1 - cellsOf(line({ name: "", percent, size }));
    console.status(style.dim(line({ name: safeLine(name, Math.max(1, cellsLeft)), percent, size })));
  };
}
