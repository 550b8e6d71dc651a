import type { Unit } from "./query.ts";
import { stem } from "./stem.ts";

/** Where a unit stands in a folded text. */
export type Mark = { readonly unit: number; readonly start: number; readonly end: number };

/** Finds units in folded texts, as the index does. */
export type Marker = (folded: string) => readonly Mark[];

/** More in one passage change neither its rank nor what is shown of it. */
const marksMax = 400;

export function openMarker(units: readonly Unit[]): Marker {
  const finders = units.map(finderOf);
  return (folded) => {
    const marks: Mark[] = [];
    for (const [unit, find] of finders.entries()) {
      for (const { start, end } of find(folded)) {
        marks.push({ unit, start, end });
        if (marks.length >= marksMax) return marks;
      }
    }
    return marks;
  };
}

type Found = { readonly start: number; readonly end: number };

function finderOf({ stems, characters }: Unit): (folded: string) => Iterable<Found> {
  return stems === undefined ? findCharacters(characters ?? "") : findWords(stems);
}

/** Letters of words that stand between spaces; v lets a set be taken from another. */
const letter = String.raw`[[\p{L}\p{N}]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}ー]]`;

function findWords(stems: readonly string[]): (folded: string) => Iterable<Found> {
  const words = stems.map((each) => `(${RegExp.escape(beginningOf(each))}${letter}*)`);
  const pattern = new RegExp(`(?<!${letter})${words.join(`(?:(?!${letter}).){1,3}`)}`, "yvs");
  const beginning = beginningOf(stems[0] ?? "");
  const known = new Map<string, string>();
  const stemOf = (word: string) => {
    const stemmed = known.get(word) ?? stem(word);
    known.set(word, stemmed);
    return stemmed;
  };
  return function* (folded) {
    for (const match of matchesAt(beginning, pattern, folded)) {
      if (stems.every((each, index) => stemOf(match[index + 1] ?? "") === each))
        yield { start: match.index, end: match.index + match[0].length };
    }
  };
}

/** As `matchAll` finds them; but a pattern is tried only where its beginning stands, which a plain search finds far sooner. */
function* matchesAt(beginning: string, sticky: RegExp, folded: string): Generator<RegExpExecArray> {
  for (let at = beginning === "" ? -1 : folded.indexOf(beginning); at !== -1; ) {
    sticky.lastIndex = at;
    const match = sticky.exec(folded);
    if (match !== null) yield match;
    at = folded.indexOf(beginning, at + (match?.[0].length ?? 1));
  }
}

/** All words of a stem begin with this: what the rules of stems change is the end. */
function beginningOf(stemmed: string): string {
  return stemmed.slice(0, Math.max(1, stemmed.length - 3));
}

function findCharacters(characters: string): (folded: string) => Iterable<Found> {
  const parts = Array.from(characters.replaceAll(/\s+/g, ""), (each) => RegExp.escape(each));
  // A line may end in the middle of a word.
  const pattern = new RegExp(parts.join("\\s{0,2}"), "yu");
  const [first = ""] = characters.replaceAll(/\s+/g, "");
  return function* (folded) {
    for (const match of matchesAt(first, pattern, folded))
      yield { start: match.index, end: match.index + match[0].length };
  };
}
