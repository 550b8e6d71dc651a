import { sameAs } from "./fold.ts";

/** A text as it is compared: without blanks and case, and without what is only drawn differently. */
export type Plain = {
  readonly units: Uint16Array;
  /** Where each line begins, in `units`. */
  readonly lineUnits: readonly number[];
  /** Where each line begins, in the text. */
  readonly lineStarts: readonly number[];
};

export function plainText(text: string): Plain {
  const units = new Uint16Array(text.length);
  const [lineUnits, lineStarts] = [[0], [0]];
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = plainUnit(text.charCodeAt(at));
    if (unit === lineFeed) {
      lineUnits.push(count);
      lineStarts.push(at + 1);
    } else if (unit !== nothing) {
      units[count] = unit;
      count += 1;
    }
  }
  return { units: units.subarray(0, count), lineUnits, lineStarts };
}

const nothing = 0;
const lineFeed = 0x0a;

/** One unit as it is compared; `nothing` for a blank. */
export function plainUnit(unit: number): number {
  if (unit < 0x80) {
    if (unit <= 0x20) return unit === lineFeed ? lineFeed : nothing;
    return unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : unit;
  }
  // Looked up only where something can be found: this runs for every character of large files.
  const isDrawn = unit === 0xa0 || (unit >= 0x2000 && unit <= 0x3002) || unit >= 0xfeff;
  const same = isDrawn ? sameAs(unit) : undefined;
  if (same === undefined) return unit;
  return same === "" ? nothing : plainUnit(same.charCodeAt(0));
}

/** Where the wanted lines stand, or what is most like them. */
export type Likeness = {
  /** The place of the first wanted line, from 0 on. */
  readonly line: number;
  /** Where the wanted line that was found begins: the line, and the unit of the whole. */
  readonly found: { readonly line: number; readonly unit: number };
  /** How much of what is wanted stands there, from 0 to 1. */
  readonly share: number;
};

/** Below this share of common pairs of characters two pieces have nothing to do with each other. */
const likenessMin = 0.5;
const enoughShare = 0.5;

export function findLikest(text: Plain, wanted: Plain): Likeness | undefined {
  const byLines = placeOfLines(text, wanted);
  if (byLines !== undefined && byLines.share >= enoughShare) return byLines;
  const byPiece = placeOfPiece(text, wanted);
  return (byPiece?.share ?? 0) > (byLines?.share ?? 0) ? byPiece : byLines;
}

/** Less in common is chance: a bracket, a blank line. */
const commonUnitsMin = 8;
/** Lines that are all the same are compared each with each only so often. */
const sameLinesMax = 20;
const comparisonsMax = 200_000;

/** Where most of the wanted lines stand as they are wanted. */
function placeOfLines(text: Plain, wanted: Plain): Likeness | undefined {
  const lengths = new Set<number>();
  const indexes = new Map<number, number[]>();
  for (const index of wanted.lineUnits.keys()) {
    const [from, to] = lineRange(wanted, index);
    if (from === to) continue;
    lengths.add(to - from);
    const hash = hashOf(wanted.units, from, to);
    const same = indexes.get(hash) ?? [];
    if (same.length < sameLinesMax) indexes.set(hash, [...same, index]);
  }
  const weights = new Map<number, number>();
  let best = { line: 0, weight: 0 };
  let left = comparisonsMax;
  for (let at = 0; at < text.lineUnits.length && left > 0; at += 1) {
    const [from, to] = lineRange(text, at);
    if (!lengths.has(to - from)) continue;
    for (const index of indexes.get(hashOf(text.units, from, to)) ?? []) {
      left -= 1;
      const line = at - index;
      const weight = (weights.get(line) ?? 0) + weightOf(to - from);
      weights.set(line, weight);
      if (weight > best.weight) best = { line, weight };
    }
  }
  const all = weightOfAll(wanted);
  if (best.weight === 0 || best.weight < Math.min(commonUnitsMin, all)) return undefined;
  const line = Math.max(0, best.line);
  return { line, found: { line, unit: lineRange(text, line)[0] }, share: best.weight / all };
}

function lineRange({ units, lineUnits }: Plain, index: number): readonly [from: number, to: number] {
  return [lineUnits[index] ?? units.length, lineUnits[index + 1] ?? units.length];
}

function hashOf(units: Uint16Array, from: number, to: number): number {
  let hash = 0;
  for (let at = from; at < to; at += 1) hash = (Math.imul(hash, 31) + (units[at] ?? 0)) | 0;
  return hash;
}

/** A line counts by its length, but a very long one not for many. */
function weightOf(units: number): number {
  return Math.min(units, 40);
}

function weightOfAll(wanted: Plain): number {
  let weight = 0;
  for (const index of wanted.lineUnits.keys()) {
    const [from, to] = lineRange(wanted, index);
    weight += weightOf(to - from);
  }
  return weight;
}

const pieceUnitsMax = 200;

/** Where the longest of the wanted lines has most in common with a piece of its length, across line ends and inside lines. */
function placeOfPiece(text: Plain, wanted: Plain): Likeness | undefined {
  const lengthOf = (index: number) => lineRange(wanted, index)[1] - lineRange(wanted, index)[0];
  let longest = 0;
  for (const index of wanted.lineUnits.keys()) if (lengthOf(index) > lengthOf(longest)) longest = index;
  const [from, to] = lineRange(wanted, longest);
  const piece = wanted.units.subarray(from, Math.min(to, from + pieceUnitsMax));
  const { unit, likeness } = likestWindow(text.units, piece);
  if (likeness < likenessMin) return undefined;
  const line = likestLine(text, unit, piece);
  return {
    line: Math.max(0, line - longest),
    found: { line, unit: Math.max(unit, lineRange(text, line)[0]) },
    share: (likeness * weightOf(to - from)) / weightOfAll(wanted),
  };
}

/** The line of a window that has most in common: its ends lie anywhere, where they are as good as elsewhere. */
function likestLine(text: Plain, unit: number, piece: Uint16Array): number {
  const around = piece.length >> 1;
  let best = { line: 0, likeness: -1 };
  const last = lineOfUnit(text, unit + piece.length - 1);
  for (let line = lineOfUnit(text, unit); line <= last; line += 1) {
    const [from, to] = lineRange(text, line);
    const clipped = text.units.subarray(Math.max(from, unit - around), Math.min(to, unit + piece.length + around));
    const likeness = likenessOf(clipped, piece);
    if (likeness > best.likeness) best = { line, likeness };
  }
  return best.line;
}

/** Twice the pairs that both have, of all that either has. */
function likenessOf(one: Uint16Array, other: Uint16Array): number {
  const pairs = new Map<number, number>();
  for (let at = 0; at + 1 < one.length; at += 1) pairs.set(pairAt(one, at), (pairs.get(pairAt(one, at)) ?? 0) + 1);
  let common = 0;
  for (let at = 0; at + 1 < other.length; at += 1) {
    const left = pairs.get(pairAt(other, at)) ?? 0;
    if (left > 0) common += 1;
    pairs.set(pairAt(other, at), left - 1);
  }
  return (2 * common) / Math.max(1, one.length + other.length - 2);
}

/** The last line that begins at this unit or before it. */
function lineOfUnit({ lineUnits }: Plain, unit: number): number {
  let [low, high] = [0, lineUnits.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((lineUnits[middle] ?? 0) <= unit) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Counted by pairs of neighbours; one step of the window adds a pair and takes one away. */
function likestWindow(units: Uint16Array, piece: Uint16Array): { unit: number; likeness: number } {
  const pairs = piece.length - 1;
  const missing = new Int32Array(pairsMax);
  for (let at = 0; at < pairs; at += 1) missing[pairAt(piece, at)] = (missing[pairAt(piece, at)] ?? 0) + 1;
  let [common, best, unit] = [0, 0, 0];
  for (let at = 0; at + 1 < units.length; at += 1) {
    const added = pairAt(units, at);
    const stillMissing = missing[added] ?? 0;
    if (stillMissing > 0) common += 1;
    missing[added] = stillMissing - 1;
    if (at >= pairs) {
      const removed = pairAt(units, at - pairs);
      const missingAgain = (missing[removed] ?? 0) + 1;
      if (missingAgain > 0) common -= 1;
      missing[removed] = missingAgain;
    }
    if (common > best) [best, unit] = [common, Math.max(0, at + 1 - pairs)];
  }
  return { unit, likeness: pairs < 1 ? 0 : best / pairs };
}

const pairsMax = 0x10000;

/** A number for the pair: different for all pairs of ASCII, and nearly always for others. */
function pairAt(units: Uint16Array, at: number): number {
  return (Math.imul(units[at] ?? 0, 0x9e37) + (units[at + 1] ?? 0)) & (pairsMax - 1);
}
