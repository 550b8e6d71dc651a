import { forModels } from "../words/words.ts";
import { outputBytes, shortened } from "./output.ts";

export type Wanted = {
  /** Number of the first line, from 1 on. */
  readonly first: number;
  readonly linesMax: number;
  readonly charactersMax: number;
  /** As results are counted: see `outputBytes`. */
  readonly bytesMax: number;
};

export type Taken = {
  readonly lines: readonly string[];
  /** Lines of the whole text. */
  readonly total: number;
};

/** Longer lines are cut: one of them could take all the room there is. */
const lineCharactersMax = 2_000;

/** Takes some lines out of a text that comes in pieces, as many as fit, and counts all of them. */
export function lineTaker({ first, linesMax, charactersMax, bytesMax }: Wanted) {
  const lines: string[] = [];
  let [number, characters, bytes] = [1, 0, 0];
  let isFull = false;
  let start = ""; // Of the line that is coming in, as much as can be shown.
  let length = 0;

  function endLine(): void {
    if (number >= first && !isFull) take(shownLine(start, length));
    number += 1;
    start = "";
    length = 0;
  }

  function take(line: string): void {
    const lineBytes = outputBytes(line) + 1;
    const isTooMuch = bytes + lineBytes > bytesMax || characters + line.length + 1 > charactersMax;
    if (lines.length > 0 && isTooMuch) {
      isFull = true;
      return;
    }
    lines.push(isTooMuch ? shortened(line, bytesMax) : line);
    characters += line.length + 1;
    bytes += lineBytes;
    isFull = lines.length >= linesMax;
  }

  return {
    add(piece: string): void {
      for (let from = 0; ; ) {
        const end = piece.indexOf("\n", from);
        const to = end < 0 ? piece.length : end;
        length += to - from;
        if (number >= first && !isFull) start += piece.slice(from, Math.min(to, from + keptMax - start.length));
        if (end < 0) return;
        endLine();
        from = end + 1;
      }
    },
    end(): Taken {
      if (length > 0) endLine();
      return { lines, total: number - 1 };
    },
  };
}

const keptMax = lineCharactersMax + 1; // One more tells whether there is more.

function shownLine(start: string, length: number): string {
  if (length <= lineCharactersMax) return start;
  const cut = start.slice(0, lineCharactersMax);
  return `${isHalf(cut) ? cut.slice(0, -1) : cut}${forModels.files.lineCut(length)}`;
}

/** Whether the text ends in the middle of a character. */
function isHalf(text: string): boolean {
  const unit = text.charCodeAt(text.length - 1);
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** How many lines a text has: what comes after the last line end is a line if it is anything. */
export function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count += 1;
  return count + (text === "" || text.endsWith("\n") ? 0 : 1);
}
