import { unitsOf as unitsIn } from "./cut-block.ts";
import { fold } from "./fold.ts";
import { type Mark, openMarker } from "./marks.ts";
import type { Query, Unit } from "./query.ts";
import { scriptOf } from "./script.ts";

/** A passage that the index proposes. */
export type Candidate = {
  /** What the index thinks of it: the larger, the better. */
  readonly score: number;
  readonly path: readonly string[];
  readonly text: string;
};

/** What speaks for a passage, each between 0 and 1. */
export type Features = {
  /** The index's score, against that of the best. */
  readonly score: number;
  /** The same by what each word tells, which the index does not know of pairs of characters. */
  readonly worth: number;
  /** How much of what was asked for its own heading has. */
  readonly title: number;
  /** The same for all of it and the headings above it. */
  readonly coverage: number;
  /** It has the question word for word. */
  readonly phrase: number;
  /** Its heading is the question word for word. */
  readonly exactTitle: number;
  /** How near to each other neighbours of the question stand. */
  readonly proximity: number;
  /** How much of what was asked for stands together in one place. */
  readonly density: number;
  /** It is written like the question: in letters, simplified or traditional characters. */
  readonly script: number;
  /** It says enough: the index prefers what is short, down to a heading alone. */
  readonly length: number;
};

export type Weights = { readonly [Feature in keyof Features]: number };

/** Chosen by cross-validation over documents: `npm run bench retrieval -- --only weights`, docs/decisions/0064. */
export const weights: Weights = {
  score: 0.5,
  worth: 0.5,
  title: 0.2,
  coverage: 0.2,
  phrase: 0.2,
  exactTitle: 0.3,
  proximity: 0.3,
  density: 0.2,
  script: 0.45,
  length: 0.3,
};

const enoughUnits = 400;

/** `telling`: what each unit of the query tells. */
export function openRanking(query: Query, telling: readonly number[]) {
  const units = unitsOf(query);
  const mark = openMarker(units);
  const script = scriptOf(query.written);
  const share = (marks: readonly Mark[]) => shareOf(new Set(marks.map(({ unit }) => unit)), telling);

  const featuresOf = ({ path, text, score }: Candidate): Features => {
    const title = path.at(-1) ?? "";
    const [foldedTitle, folded] = [fold(title), fold(text)];
    const marks = mark(folded);
    const inTitle = mark(foldedTitle);
    const above = mark(fold(path.slice(0, -1).join("\n")));
    return {
      score,
      worth: worthOf([marks, inTitle, above], text.length, telling),
      title: share(inTitle),
      coverage: share([...marks, ...inTitle, ...above]),
      phrase: hasWhole(folded, query.whole) ? 1 : 0,
      exactTitle: titleIs(foldedTitle, query.whole) ? 1 : 0,
      proximity: proximityOf(marks, units.length),
      density: densityOf(marks, telling),
      script: script === undefined || script === scriptOf(text) ? 1 : 0,
      length: Math.min(1, unitsIn(text) / enoughUnits),
    };
  };

  return {
    /** What speaks for each. */
    weigh(candidates: readonly Candidate[]): Features[] {
      const all = candidates.map(featuresOf);
      const best = Math.max(...all.map(({ score }) => score), Number.MIN_VALUE);
      const most = Math.max(...all.map(({ worth }) => worth), Number.MIN_VALUE);
      return all.map((each) => ({ ...each, score: each.score / best, worth: each.worth / most }));
    },
    mark,
  };
}

export function unitsOf({ terms, required }: Query): readonly Unit[] {
  return [...terms, ...required].flatMap(({ units }) => units);
}

export function totalOf(features: Features, by: Weights = weights): number {
  return (
    by.score * features.score +
    by.worth * features.worth +
    by.title * features.title +
    by.coverage * features.coverage +
    by.phrase * features.phrase +
    by.exactTitle * features.exactTitle +
    by.proximity * features.proximity +
    by.density * features.density +
    by.script * features.script +
    by.length * features.length
  );
}

function shareOf(found: ReadonlySet<number>, telling: readonly number[]): number {
  const has = telling.reduce((sum, more, unit) => sum + (found.has(unit) ? more : 0), 0);
  return has / Math.max(sumOf(telling), Number.MIN_VALUE);
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

/** BM25: what is said again tells less each time, and in a long text less than in a short one. */
const saturation = 1.2;
const lengthShare = 0.3;
const usualCharacters = 700;
/** How much more a word counts in the own heading, and in those above it, than in the text. */
const [titleTimes, aboveTimes] = [2, 1];

function worthOf(
  [inText, inTitle, above]: readonly [readonly Mark[], readonly Mark[], readonly Mark[]],
  characters: number,
  telling: readonly number[],
): number {
  const times = telling.map(() => 0);
  const add = (marks: readonly Mark[], each: number) => {
    for (const { unit } of marks) times[unit] = (times[unit] ?? 0) + each;
  };
  add(inText, 1 / (1 - lengthShare + (lengthShare * characters) / usualCharacters));
  add(inTitle, titleTimes);
  add(above, aboveTimes);
  return sumOf(times.map((count, unit) => ((telling[unit] ?? 0) * count * (saturation + 1)) / (count + saturation)));
}

/** Two sentences or three. */
const placeCharacters = 300;

function densityOf(marks: readonly Mark[], telling: readonly number[]): number {
  const inOrder = marks.toSorted((one, other) => one.start - other.start);
  const counts = telling.map(() => 0);
  let [has, most, first] = [0, 0, 0];
  for (const { unit, start } of inOrder) {
    if (counts[unit] === 0) has += telling[unit] ?? 0;
    counts[unit] = (counts[unit] ?? 0) + 1;
    for (let head = inOrder[first]; head !== undefined && start - head.start > placeCharacters; head = inOrder[first]) {
      counts[head.unit] = (counts[head.unit] ?? 1) - 1;
      if (counts[head.unit] === 0) has -= telling[head.unit] ?? 0;
      first += 1;
    }
    most = Math.max(most, has);
  }
  return most / Math.max(sumOf(telling), Number.MIN_VALUE);
}

function hasWhole(folded: string, whole: string): boolean {
  if (!whole.includes(" ") && whole.length < 3) return false;
  // Most passages lack some word of it, and need not be made plain.
  return whole.split(" ").every((word) => folded.includes(word)) && plain(folded).includes(whole);
}

function titleIs(foldedTitle: string, whole: string): boolean {
  return whole !== "" && plain(foldedTitle).replace(numbering, "") === whole.replace(numbering, "");
}

function plain(folded: string): string {
  return folded.replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim();
}

const numbering = /^(?:(?:chapter|appendix|section|part) )?(?:第 ?)?(?:\d+ |[a-z] (?=\d))*(?:\d+ )?(?:[章节] )?/u;

/** Further apart, two words have nothing to do with each other. */
const nearCharacters = 80;

function proximityOf(marks: readonly Mark[], units: number): number {
  if (units < 2) return marks.length > 0 ? 1 : 0;
  const starts: number[][] = Array.from({ length: units }, () => []);
  for (const { unit, start } of marks) starts[unit]?.push(start);
  let sum = 0;
  for (let unit = 0; unit + 1 < units; unit += 1) {
    const gap = gapBetween(starts[unit] ?? [], starts[unit + 1] ?? []);
    sum += Math.max(0, 1 - gap / nearCharacters);
  }
  return sum / (units - 1);
}

/** Both are in rising order. */
function gapBetween(ones: readonly number[], others: readonly number[]): number {
  let [one, other, least] = [0, 0, Number.POSITIVE_INFINITY];
  while (one < ones.length && other < others.length) {
    const [a = 0, b = 0] = [ones[one], others[other]];
    least = Math.min(least, Math.abs(a - b));
    if (a < b) one += 1;
    else other += 1;
  }
  return least;
}
