import type { Place } from "../extract/extracted.ts";
import { keyCharacters } from "./hit-id.ts";
import { isRepairable, type Repair, repairWord } from "./repair.ts";
import type { Bounds, Scope } from "./sqlite/bounds.ts";
import { contentOf, ordinalOf, type Reader, type StoredPassage } from "./sqlite/reading.ts";
import { anyOf, loosened, matchOf, parseQuery, partsOf, type Query, type Term, type Unit } from "./text/query.ts";
import { type Features, openRanking, totalOf, unitsOf } from "./text/rank.ts";
import type { CutRun } from "./text/runs.ts";
import { snippetOf } from "./text/snippet.ts";
import { tellingOf } from "./text/telling.ts";

/** A passage that answers, with all that is needed to show, cite and open it. */
export type Hit = {
  /** The same for the same document, also after the index was made anew. */
  readonly id: string;
  /** What the owner calls the document it is in; several where it lies in several places. */
  readonly documents: readonly { readonly kind: string; readonly place: string }[];
  /** Where its text begins and ends. */
  readonly from: Place;
  readonly to: Place;
  readonly headings: readonly string[];
  /** Of what was said: when, and by whom. */
  readonly said?: { readonly at: number; readonly by: string } | undefined;
  /** Text of the document with `**` around what was found and `...` where it is cut. */
  readonly snippet: string;
  /** The larger, the better; comparable within one answer. */
  readonly score: number;
  /** What the score is made of. */
  readonly features: Features;
};

/** What a pattern finds has no rank. */
export type PlainHit = Omit<Hit, "score" | "features">;

export type Found = {
  readonly hits: readonly Hit[];
  /** Passages with at least one of the words; `totalMax` means that many or more. */
  readonly total: number;
  /** Words of the query that are nowhere, and were left out. */
  readonly missing: readonly string[];
  /** Words that were taken for others: the answer is one to this changed query. */
  readonly repaired: readonly Repair[];
  /** Quotes that are nowhere as they stand: their words were looked for. */
  readonly loosened: readonly string[];
};

/** What is asked for as a vector, and the model that it is of. */
export type Meant = { readonly vector: Float32Array; readonly model: string };

export type FindLimits = { readonly hitsMax: number; readonly snippetCharacters: number };

/** What the index proposes is looked at more closely up to this. */
const candidatesMax = 60;
const totalMax = 1_000;
/** Of words that are nowhere, so many are taken for others. */
const repairsMax = 4;
/** Who asks waits, and all others behind them: after this words are neither looked up one by one nor repaired. */
const fittingMsMax = 2_000;

export type FindParts = { readonly reader: Reader; readonly cutRun: CutRun; readonly monotonic: () => number };

export type FindWanted = {
  readonly query: string;
  readonly scope: Scope;
  readonly limits: FindLimits;
  readonly meant?: Meant | undefined;
};

/** Undefined: the query says nothing that can be looked for. */
export function find(
  { query: text, scope, limits: { hitsMax, snippetCharacters }, meant }: FindWanted,
  parts: FindParts,
): (Found & { readonly used: readonly number[] }) | undefined {
  const { reader, cutRun } = parts;
  return reader.atOneMoment(() => {
    const bounds = reader.within(scope);
    const asked = parseQuery(text, cutRun);
    if (unitsOf(asked).length === 0) return undefined;
    if (bounds.isEmpty) return { ...nothing, missing: saidIn(asked), used: [] };
    const { query, ...changes } = fitQuery(asked, bounds, parts);
    const near = nearTo(asked, meant, bounds, reader);
    if (unitsOf(query).length === 0 && near.length === 0) return { ...nothing, ...changes, used: [] };
    const ranked = rankWithin(query, near, bounds, reader);
    const shown = onePerPageFirst(ranked.passages).slice(0, hitsMax);
    return {
      hits: shown.map(({ passage, features, score }) => ({
        ...hitOf(passage, bounds, reader),
        snippet: snippetOf(passage.text, ranked.mark, snippetCharacters),
        score,
        features,
      })),
      total: ranked.total,
      ...changes,
      used: [...new Set(shown.map(({ passage }) => contentOf(passage.id)))],
    };
  });
}

export function hitOf(passage: StoredPassage, bounds: Bounds, reader: Reader): Omit<PlainHit, "snippet"> {
  const { id, from, to, path } = passage;
  return {
    id: `${reader.keyOf(id).slice(0, keyCharacters)}-${ordinalOf(id)}`,
    documents: reader.placesOf(id, bounds),
    from,
    to,
    headings: path,
    said: reader.saidOf(id),
  };
}

const nothing = { hits: [], total: 0, missing: [], repaired: [], loosened: [] };

type Fitted = Pick<Found, "missing" | "repaired" | "loosened"> & { readonly query: Query };

/** What is nowhere is taken for what it probably meant, or left out, and told. */
function fitQuery(asked: Query, bounds: Bounds, { reader, cutRun, monotonic }: FindParts): Fitted {
  const endsAt = monotonic() + fittingMsMax;
  let repairsLeft = repairsMax;
  const isThere = (term: Term) => reader.some(anyOf(term), bounds) !== undefined;
  const lost = asked.required.filter((term) => !isThere(term));
  const areTogether =
    lost.length === 0 && (asked.required.length < 2 || reader.some(matchOf(asked), bounds) !== undefined);
  const loose = areTogether ? asked : loosened(asked, cutRun);
  const missing: string[] = [];
  const repaired: Repair[] = [];
  const terms = loose.terms.flatMap((term): Term[] => {
    if (monotonic() >= endsAt || isThere(term)) return [term];
    const inParts = { said: term.said, units: partsOf(term) };
    if (inParts.units.length > 0 && isThere(inParts)) return [inParts];
    const isTried = isRepairable(term) && repairsLeft > 0;
    if (isTried) repairsLeft -= 1;
    const repair = isTried ? repairWord(term, reader, bounds) : undefined;
    if (repair === undefined) {
      missing.push(term.said);
      return [];
    }
    repaired.push(repair);
    return [...parseQuery(repair.meant, cutRun).terms];
  });
  return {
    query: { ...loose, terms },
    missing,
    repaired,
    loosened: areTogether ? [] : asked.required.map(({ said }) => said),
  };
}

function saidIn({ terms, required }: Query): string[] {
  return [...terms, ...required].map(({ said }) => said);
}

type Ranked = { readonly passage: StoredPassage; readonly features: Features; readonly score: number };

/** Who quotes, leaves out or names a heading wants just that, whatever else means the same. */
function nearTo({ required, excluded }: Query, meant: Meant | undefined, bounds: Bounds, reader: Reader) {
  if (meant === undefined || required.length > 0 || excluded.length > 0) return [];
  return reader.nearest(meant.vector, meant.model, bounds, candidatesMax);
}

/** The best of the index, in the order of what speaks for them; `near` are those that mean it, the nearest first. */
function rankWithin(query: Query, near: readonly number[], bounds: Bounds, reader: Reader) {
  const units = unitsOf(query);
  const counts = units.map((unit) => passagesWith(unit, reader));
  const { weigh, mark } = openRanking(query, tellingOf(units, counts, reader.passagesInAll()));
  const asked = rarerOnly(query, counts, reader.shareOf(bounds));
  const best = counts.length === 0 ? [] : reader.best(matchOf(asked), bounds, candidatesMax);
  const found = new Set(best.map(({ id }) => id));
  const others = near.filter((id) => !found.has(id)).map((id) => ({ id, score: 0 }));
  const candidates = [...best, ...others].map(({ id, score }) => ({ ...reader.passage(id), score }));
  const weighed = weigh(candidates);
  const passages = candidates.flatMap((passage, index): Ranked[] => {
    const features = weighed[index];
    return features === undefined ? [] : [{ passage, features, score: totalOf(features) }];
  });
  const byWords = passages.filter(({ passage }) => found.has(passage.id)).toSorted(byScore);
  const isAll = asked === query && best.length < candidatesMax;
  return {
    mark,
    passages: near.length === 0 ? byWords : fused(passages, [byWords.map(({ passage }) => passage.id), near]),
    total: isAll ? passages.length : Math.max(passages.length, reader.count(matchOf(query), bounds, totalMax)),
  };
}

function byScore(one: Ranked, other: Ranked): number {
  return other.score - one.score;
}

/** The usual one: the larger, the less the first places of each ranking count against the later ones. */
const fusionConstant = 60;

/** By the places in all rankings together: scores of different kinds cannot be added, places can. */
function fused(passages: readonly Ranked[], rankings: readonly (readonly number[])[]): Ranked[] {
  const scores = new Map<number, number>();
  // Who is first in all of them has 1.
  const most = (fusionConstant + 1) / rankings.length;
  for (const ranking of rankings)
    for (const [place, id] of ranking.entries())
      scores.set(id, (scores.get(id) ?? 0) + most / (fusionConstant + 1 + place));
  return passages.map((each) => ({ ...each, score: scores.get(each.passage.id) ?? 0 })).toSorted(byScore);
}

/** Words in a row are at most as frequent as the rarest of them. */
function passagesWith({ stems, characters = "" }: Unit, reader: Reader): number {
  return Math.min(...(stems ?? [characters]).map((word) => reader.passagesWith(word)));
}

/** So many rows are scored in a few milliseconds. */
const scoredRowsMax = 12_000;

/**
 * In a large index words that stand everywhere cost most of the time and tell least: the passages to choose from are those
 * with the rarer words, and the others only count when these are ranked.
 */
function rarerOnly(query: Query, counts: readonly number[], share: number): Query {
  if (query.required.length > 0) return query;
  const units = unitsOf(query);
  const order = units
    .map((unit, index) => ({ unit, rows: (counts[index] ?? 0) * share }))
    .toSorted((a, b) => a.rows - b.rows);
  let rows = 0;
  const kept = new Set(
    order.flatMap(({ unit, rows: more }, index) => {
      rows += more;
      return index === 0 || rows <= scoredRowsMax ? [unit] : [];
    }),
  );
  if (kept.size === units.length) return query;
  const terms = query.terms.map((term) => ({ ...term, units: term.units.filter((unit) => kept.has(unit)) }));
  return { ...query, terms: terms.filter((term) => term.units.length > 0) };
}

/** Two passages of one page say much the same: the second waits behind all first ones. */
function onePerPageFirst<T extends { readonly passage: StoredPassage }>(ranked: readonly T[]): T[] {
  const seen = new Set<string>();
  const [first, later]: [T[], T[]] = [[], []];
  for (const each of ranked) {
    const { id, from } = each.passage;
    const page = `${contentOf(id)} ${from.page ?? `passage ${id}`}`;
    (seen.has(page) ? later : first).push(each);
    seen.add(page);
  }
  return [...first, ...later];
}
