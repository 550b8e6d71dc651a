import { headOf, outputBytes } from "./output.ts";

export type Wanted = {
  /** Number of the first line, from 1 on, and where in it to begin, also from 1 on. */
  readonly first: number;
  readonly column: number;
  readonly linesMax: number;
  readonly charactersMax: number;
  /** As results are counted: see `outputBytes`. */
  readonly bytesMax: number;
};

export type Taken = {
  readonly lines: readonly string[];
  /** Lines of the whole text. */
  readonly total: number;
  /** Where the first line that was not taken to its end goes on; undefined at the end of the text. */
  readonly next: { readonly line: number; readonly column: number } | undefined;
  /** Characters of the line `first`. */
  readonly firstLength: number;
};

/** With less room left a long line begins on the next page. */
const roomMin = 1_000;

/** Takes some lines out of a text that comes in pieces, as many as fit, and counts all of them. */
export function lineTaker({ first, column, linesMax, charactersMax, bytesMax }: Wanted) {
  const lines: string[] = [];
  const keptMax = Math.min(charactersMax, bytesMax) + 1; // One more tells that there is more.
  let [number, firstLength] = [1, 0];
  let [charactersLeft, bytesLeft] = [charactersMax, bytesMax];
  let next: Taken["next"];
  let kept = ""; // Of the line that is coming in, as much as could be shown.
  let length = 0;

  function endLine(): void {
    if (number === first) firstLength = length;
    if (isWanted()) take();
    number += 1;
    kept = "";
    length = 0;
  }

  function isWanted(): boolean {
    return number >= first && next === undefined;
  }

  function take(): void {
    const begin = columnIn(number);
    const isWhole = begin - 1 + kept.length >= length;
    const [characters, bytes] = [kept.length + 1, outputBytes(kept) + 1];
    const hasRoom = lines.length === 0 || Math.min(charactersLeft, bytesLeft) >= roomMin;
    const fitsNext = lines.length > 0 && isWhole && characters <= charactersMax && bytes <= bytesMax;
    if (lines.length >= linesMax) next = { line: number, column: 1 };
    else if (isWhole && characters <= charactersLeft && bytes <= bytesLeft) {
      lines.push(kept);
      charactersLeft -= characters;
      bytesLeft -= bytes;
    } else if (!hasRoom || fitsNext) next = { line: number, column: 1 };
    else {
      const head = headOf(kept, { bytesMax: bytesLeft, unitsMax: charactersLeft });
      lines.push(head);
      next = { line: number, column: begin + head.length };
    }
  }

  function columnIn(line: number): number {
    return line === first ? column : 1;
  }

  return {
    add(piece: string): void {
      for (let from = 0; ; ) {
        const end = piece.indexOf("\n", from);
        const to = end < 0 ? piece.length : end;
        if (isWanted()) {
          const begin = Math.min(to, from + Math.max(0, columnIn(number) - 1 - length));
          kept += piece.slice(begin, Math.min(to, begin + keptMax - kept.length));
        }
        length += to - from;
        if (end < 0) return;
        endLine();
        from = end + 1;
      }
    },
    end(): Taken {
      if (length > 0) endLine();
      return { lines, total: number - 1, next, firstLength };
    },
  };
}

/** How many lines a text has: what comes after the last line end is a line if it is anything. */
export function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count += 1;
  return count + (text === "" || text.endsWith("\n") ? 0 : 1);
}
