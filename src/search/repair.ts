import type { Bounds } from "./sqlite/bounds.ts";
import type { Reader } from "./sqlite/reading.ts";
import { foldWithOrigins } from "./text/fold.ts";
import { openMarker } from "./text/marks.ts";
import type { Term } from "./text/query.ts";
import { stem } from "./text/stem.ts";

/** A word that is nowhere, and the one that was probably meant. */
export type Repair = { readonly said: string; readonly meant: string };

/** Shorter words are near to too many. */
const lettersMin = 4;
const proposalsMax = 5;

/**
 * The word within the bounds that is nearest to one that is not there: with the same first letter, a letter or two apart.
 * Words of documents of others are never told: each proposal is looked up within the bounds.
 */
export function repairWord({ said, units }: Term, reader: Reader, bounds: Bounds): Repair | undefined {
  const [unit, ...more] = units;
  const [word] = unit?.stems ?? [];
  if (word === undefined || more.length > 0 || unit?.stems?.length !== 1 || said.length < lettersMin) return undefined;
  if (/^\d+$/.test(said)) return undefined;
  const [first = ""] = word;
  for (const term of nearestTo(word, reader.wordsBetween(first, following(first)))) {
    const found = reader.some(`"${term}"`, bounds);
    const meant = found === undefined ? undefined : wordOf(term, reader.passage(found));
    if (meant !== undefined) return { said, meant };
  }
  return undefined;
}

function nearestTo(word: string, known: readonly { readonly term: string; readonly passages: number }[]): string[] {
  const distanceMax = word.length < 6 ? 1 : 2;
  return known
    .filter(({ term }) => Math.abs(term.length - word.length) <= distanceMax && stem(term) === term)
    .map(({ term, passages }) => ({ term, passages, distance: distanceBetween(word, term, distanceMax) }))
    .filter(({ distance }) => distance <= distanceMax)
    .toSorted((one, other) => one.distance - other.distance || other.passages - one.passages)
    .slice(0, proposalsMax)
    .map(({ term }) => term);
}

/** As it is written in a text: the index knows stems. */
function wordOf(
  term: string,
  { text, path }: { readonly text: string; readonly path: readonly string[] },
): string | undefined {
  const mark = openMarker([{ match: "", stems: [term] }]);
  for (const written of [text, ...path]) {
    const { folded, origins } = foldWithOrigins(written);
    const [found] = mark(folded);
    if (found !== undefined) return written.slice(origins[found.start], origins[found.end]).toLowerCase();
  }
  return undefined;
}

function following(letter: string): string {
  return String.fromCodePoint((letter.codePointAt(0) ?? 0) + 1);
}

/** Letters put in, left out, changed or swapped; more than the most is as good as any more. */
function distanceBetween(from: string, to: string, most: number): number {
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const now = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      now[column] = Math.min(
        (last[column] ?? 0) + 1,
        (now[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (before[column - 2] ?? 0) + 1 : most + 1,
      );
    }
    if (Math.min(...now) > most) return most + 1;
    [before, last] = [last, now];
  }
  return last[to.length] ?? most + 1;
}
