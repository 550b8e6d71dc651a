import { editDistance } from "../base/nearest.ts";
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
/** So many words with one beginning are gone through in a tenth of a second, whoever wrote them. */
const walkedMax = 40_000;
/** Of those that are equally near, so many are looked up within the bounds. */
const nearMax = 100;

/**
 * The word within the bounds that is nearest to one that is not there: with the same first letter, a letter or two apart.
 * Words of documents of others are never told: each proposal is looked up within the bounds.
 */
export function repairWord(term: Term, reader: Reader, bounds: Bounds): Repair | undefined {
  const { said } = term;
  for (const group of nearestTo(wordIn(term) ?? said, reader)) {
    // One question for all of them: mostly none is within the bounds.
    if (reader.some(group.map((term) => `"${term}"`).join(" OR "), bounds) === undefined) continue;
    for (const near of group) {
      const found = reader.some(`"${near}"`, bounds);
      const meant = found === undefined ? undefined : wordOf(near, reader.passage(found));
      if (meant !== undefined) return { said, meant };
    }
  }
  return undefined;
}

/** Whether it is a single word, and long enough to be taken for another. */
export function isRepairable(term: Term): boolean {
  return term.said.length >= lettersMin && !/^\d+$/.test(term.said) && wordIn(term) !== undefined;
}

function wordIn({ units: [unit, ...more] }: Term): string | undefined {
  return more.length === 0 && unit?.stems?.length === 1 ? unit.stems[0] : undefined;
}

/** Known words in groups that are equally near, the nearest first, and in each the most frequent first. */
function nearestTo(word: string, reader: Reader): string[][] {
  const distanceMax = word.length < 6 ? 1 : 2;
  const groups = Array.from({ length: distanceMax }, (): { term: string; passages: number }[] => []);
  for (const known of knownWords(word, distanceMax, reader)) {
    if (stem(known.term) !== known.term) continue;
    groups[editDistance(word, known.term, distanceMax) - 1]?.push(known);
  }
  return groups
    .filter((group) => group.length > 0)
    .map((group) => group.toSorted((one, other) => other.passages - one.passages).slice(0, nearMax))
    .map((group) => group.map(({ term }) => term));
}

/** With the same first letter, and those that share more with it also where too many share that one. */
function knownWords(word: string, distanceMax: number, reader: Reader) {
  const lengths = [word.length - distanceMax, word.length + distanceMax] as const;
  const letters = [...word];
  const known = [1, 2, 3].flatMap((count) =>
    reader.wordsLike({ beginning: letters.slice(0, count).join(""), lengths, walkedMax }),
  );
  return new Map(known.map((each) => [each.term, each])).values();
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
