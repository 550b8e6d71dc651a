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
  /** It is written like the question: in letters, simplified or traditional characters. */
  readonly script: number;
  /** It says enough: the index prefers what is short, down to a heading alone. */
  readonly length: number;
};

export type Weights = { readonly [Feature in keyof Features]: number };

/** Chosen by cross-validation over documents: `npm run bench retrieval -- --only weights`, docs/decisions/0064. */
export const weights: Weights = {
  score: 1,
  title: 0.2,
  coverage: 0.2,
  phrase: 0.2,
  exactTitle: 0.3,
  proximity: 0.3,
  script: 0.45,
  length: 0.3,
};

const enoughUnits = 400;

/** `rarities`: what each unit of the query tells, by how rare it is. */
export function openRanking(query: Query, rarities: readonly number[]) {
  const units = unitsOf(query);
  const mark = openMarker(units);
  const script = scriptOf(query.written);
  const share = (marks: readonly Mark[]) => shareOf(new Set(marks.map(({ unit }) => unit)), rarities);

  const featuresOf = ({ path, text }: Candidate, score: number): Features => {
    const title = path.at(-1) ?? "";
    const [foldedTitle, folded] = [fold(title), fold(text)];
    const marks = mark(folded);
    const inTitle = mark(foldedTitle);
    const above = mark(fold(path.slice(0, -1).join("\n")));
    return {
      score,
      title: share(inTitle),
      coverage: share([...marks, ...inTitle, ...above]),
      phrase: hasWhole(folded, query.whole) ? 1 : 0,
      exactTitle: titleIs(foldedTitle, query.whole) ? 1 : 0,
      proximity: proximityOf(marks, units.length),
      script: script === undefined || script === scriptOf(text) ? 1 : 0,
      length: Math.min(1, unitsIn(text) / enoughUnits),
    };
  };

  return {
    /** What speaks for each. */
    weigh(candidates: readonly Candidate[]): Features[] {
      const best = Math.max(...candidates.map(({ score }) => score), Number.MIN_VALUE);
      return candidates.map((candidate) => featuresOf(candidate, candidate.score / best));
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
    by.title * features.title +
    by.coverage * features.coverage +
    by.phrase * features.phrase +
    by.exactTitle * features.exactTitle +
    by.proximity * features.proximity +
    by.script * features.script +
    by.length * features.length
  );
}

/** How telling a word is that stands in so many of all passages. */
export function rarityOf(passages: number, all: number): number {
  return Math.log(1 + (Math.max(all, passages) - passages + 0.5) / (passages + 0.5));
}

function shareOf(found: ReadonlySet<number>, rarities: readonly number[]): number {
  const all = rarities.reduce((sum, rarity) => sum + rarity, 0);
  const has = rarities.reduce((sum, rarity, unit) => sum + (found.has(unit) ? rarity : 0), 0);
  return all === 0 ? 0 : has / all;
}

function hasWhole(folded: string, whole: string): boolean {
  if (!whole.includes(" ") && whole.length < 3) return false;
  return plain(folded).includes(whole);
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
