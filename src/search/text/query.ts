import { fold } from "./fold.ts";
import { anyOfRuns, type CutRun, indexedText, runPattern } from "./runs.ts";
import { stem } from "./stem.ts";
import { coreOf, englishStopWords, partsWithoutStopWords } from "./stop-words.ts";

/** What somebody looks for, as the index is asked. */
export type Query = {
  readonly written: string;
  /** As it was written, folded, without signs: a text that has just this is what was meant. */
  readonly whole: string;
  /** What is looked for: one of them is enough, and the more the better. */
  readonly terms: readonly Term[];
  /** Phrases in quotes and words of headings: without them it is no hit. */
  readonly required: readonly Term[];
  readonly excluded: readonly Term[];
};

/** A word, a phrase, or a stretch of Chinese. */
export type Term = {
  readonly said: string;
  readonly units: readonly Unit[];
  /** Only in headings. */
  readonly isHeading?: boolean;
};

/** What the index finds as one thing. */
export type Unit = {
  /** An expression of FTS5; words of letters and digits only, in quotes. */
  readonly match: string;
  /** What marks it in a text: the stems of one or more words in a row, or characters. */
  readonly stems?: readonly string[];
  readonly characters?: string;
  /** Perhaps it is no part of what is meant. */
  readonly isWeak?: true;
};

/** More than anybody asks for, and still quick. */
const unitsMax = 64;

export function parseQuery(text: string, cutRun: CutRun): Query {
  const tokens = Array.from(text.matchAll(tokenPattern), readToken);
  const asked = tokens.filter(({ isExcluded }) => !isExcluded);
  const phrases = asked.filter(({ isPhrase, isHeading }) => isPhrase || isHeading);
  const words = asked.filter(({ isPhrase, isHeading }) => !isPhrase && !isHeading).map(({ said }) => said);
  const terms = termsOf(words, cutRun, true);
  const isOnlyStopWords = terms.length === 0 && phrases.length === 0;
  return {
    written: text,
    whole: wholeOf(asked.map(({ said }) => said).join(" ")),
    terms: bounded(isOnlyStopWords ? termsOf(words, cutRun, false) : terms),
    required: bounded(phrases.flatMap(({ said, isHeading }) => phraseOf(said, cutRun, isHeading))),
    excluded: bounded(
      tokens.filter(({ isExcluded }) => isExcluded).flatMap(({ said }) => phraseOf(said, cutRun, false)),
    ),
  };
}

/** The expression that finds all that may be a hit. */
export function matchOf({ terms, required, excluded }: Query): string {
  const any = [...terms, ...required].flatMap(({ units, isHeading }) =>
    units.map((unit) => inColumns(unit, isHeading)),
  );
  const all = required.map((term) => anyOf(term));
  const wanted = [...all, `(${any.join(" OR ")})`].join(" AND ");
  return excluded.length === 0 ? wanted : `(${wanted}) NOT (${excluded.map(anyOf).join(" OR ")})`;
}

/** Required terms as if they had been said without quotes. */
export function loosened(query: Query, cutRun: CutRun): Query {
  const words = query.required.map(({ said }) => said);
  return { ...query, terms: bounded([...query.terms, ...termsOf(words, cutRun, true)]), required: [] };
}

/** The words of a term that hangs together, each for itself. */
export function partsOf(term: Term): readonly Unit[] {
  return term.units.flatMap(({ stems = [] }) => (stems.length > 1 ? stems.map((each) => wordUnit([each])) : []));
}

export function anyOf({ units, isHeading }: Term): string {
  return `(${units.map((unit) => inColumns(unit, isHeading)).join(" OR ")})`;
}

function inColumns({ match }: Unit, isHeading = false): string {
  return isHeading ? `{title path} : ${match}` : match;
}

/**
 * Only what follows a space or nothing is left out or a field; `-x` and `--purge` are options of programs, which are never
 * written in Chinese, Japanese or Korean.
 */
const minus = String.raw`-(?=["“「]|${anyOfRuns.source}|\p{L}{3})`;
const tokenPattern = new RegExp(
  String.raw`(?<=^|\s)(${minus})?((?:heading|标题|標題)[:：])?(?:"([^"]+)"|“([^”]+)”|「([^」]+)」|(\S+))`,
  "giu",
);

type Token = { said: string; isExcluded: boolean; isHeading: boolean; isPhrase: boolean };

function readToken([, sign, field, ...said]: RegExpMatchArray): Token {
  const word = said.at(3);
  const phrase = said.slice(0, 3).find((each) => each !== undefined);
  return {
    said: phrase ?? word ?? "",
    isExcluded: sign !== undefined,
    isHeading: field !== undefined,
    isPhrase: phrase !== undefined,
  };
}

function termsOf(words: readonly string[], cutRun: CutRun, leavesOut: boolean): Term[] {
  return words.flatMap((word) => {
    const folded = fold(word);
    // Chinese and English in one word are two.
    return folded
      .replaceAll(runPattern, " $& ")
      .split(" ")
      .filter((part) => part !== "")
      .flatMap((part) => (anyOfRuns.test(part) ? runTerms(part, cutRun, leavesOut) : wordTerms(part, leavesOut)));
  });
}

function runTerms(run: string, cutRun: CutRun, leavesOut: boolean): Term[] {
  const parts = leavesOut ? partsWithoutStopWords(run) : [run];
  return parts.map((part) => {
    const core = coreOf(part);
    const units = runUnits(part, cutRun);
    return {
      said: part,
      units: units.map((unit) => (core.includes(unit.characters ?? "") ? unit : { ...unit, isWeak: true as const })),
    };
  });
}

function runUnits(run: string, cutRun: CutRun): readonly Unit[] {
  const cuts = [...new Set(cutRun(run))];
  // The last character alone is a word of the index only where the text ends with it.
  const whole = cuts.length > 1 ? cuts.filter((cut) => [...cut].length > 1) : cuts;
  return (whole.length > 0 ? whole : cuts).map((cut) => ({
    match: [...cut].length === 1 ? `"${cut}" *` : `"${cut}"`,
    characters: cut,
  }));
}

/** `debian/rules`, `4.1` and `dpkg-buildpackage` are words in a row. */
function wordTerms(text: string, leavesOut: boolean): Term[] {
  const words = wordsOf(text);
  if (words.length === 0 || (leavesOut && words.every((word) => englishStopWords.has(word)))) return [];
  return [{ said: words.length === 1 ? (words[0] ?? text) : text.replaceAll(edges, ""), units: [wordUnit(words)] }];
}

function wordUnit(words: readonly string[]): Unit {
  return { match: `"${words.join(" ")}"`, stems: words.map(stem) };
}

function phraseOf(said: string, cutRun: CutRun, isHeading: boolean): Term[] {
  const folded = fold(said);
  const words = wordsOf(indexedText(folded, cutRun));
  const isOpen = anyOfRuns.test([...folded.trimEnd()].at(-1) ?? "");
  const last = words.at(-1) ?? "";
  // Of the pairs that a run is cut into, the last is a single character, which need not be the end of it in a text.
  if (isOpen && [...last].length === 1 && anyOfRuns.test(words.at(-2) ?? "")) words.pop();
  const isPrefix = isOpen && [...(words.at(-1) ?? "")].length === 1;
  if (words.length === 0) return [];
  const unit = { match: `"${words.join(" ")}"${isPrefix ? " *" : ""}`, ...shapeOf(folded) };
  return [{ said: said.trim(), units: [unit], ...(isHeading ? { isHeading } : {}) }];
}

function shapeOf(folded: string): Pick<Unit, "stems" | "characters"> {
  return anyOfRuns.test(folded) ? { characters: folded.replaceAll(edges, "") } : { stems: wordsOf(folded).map(stem) };
}

function wholeOf(text: string): string {
  return fold(text)
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

const edges = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;

function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}]+/gu) ?? [];
}

function bounded(terms: readonly Term[]): Term[] {
  let left = unitsMax;
  return terms.flatMap((term) => {
    const units = term.units.slice(0, left);
    left -= units.length;
    return units.length === 0 ? [] : [{ ...term, units }];
  });
}
