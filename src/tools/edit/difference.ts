import type { Difference } from "../../words/words.ts";

/** Lines of a file by their index, and where in one of them the wanted text was found. */
export type Lines = {
  readonly lineAt: (index: number) => string;
  readonly found: { readonly line: number; readonly column: number };
};

/** The first line that is not as it was wanted, numbered from 1 on; `start` is the index of the first. */
export function differenceAt(
  { lineAt, found }: Lines,
  wanted: readonly string[],
  start: number,
): Difference | undefined {
  for (const [index, wish] of wanted.entries()) {
    const line = start + index;
    const there = lineAt(line).trimEnd();
    const ends = { isFirst: index === 0, isLast: index === wanted.length - 1 };
    if (fits(there, wish.trimEnd(), ends)) continue;
    const column = line === found.line ? found.column : 0;
    return differenceOf(there, wish.trimEnd(), { line: line + 1, column, ends });
  }
  return undefined;
}

type Ends = { readonly isFirst: boolean; readonly isLast: boolean };

/** The wanted text may begin and end in the middle of a line. */
function fits(there: string, wish: string, { isFirst, isLast }: Ends): boolean {
  if (isFirst && isLast) return there.includes(wish);
  if (isFirst) return there.endsWith(wish);
  return isLast ? there.startsWith(wish) : there === wish;
}

type Where = { readonly line: number; readonly column: number; readonly ends: Ends };

function differenceOf(there: string, wish: string, { line, column, ends }: Where): Difference {
  if (there.trim() === wish.trim()) return { kind: "indentation", line };
  if (fits(there.trim().toLowerCase(), wish.trim().toLowerCase(), ends)) return { kind: "case", line };
  const beginsInside = ends.isFirst && wish.trimStart() === wish;
  const end = commonEnd(there, wish, beginsInside ? alignedNear(there, wish, column) : [0, 0]);
  const half = isHalf(there.charCodeAt(end[0] - 1)) ? 1 : 0; // The first halves of two characters may be the same.
  const [at, wishAt] = [end[0] - half, Math.max(0, end[1] - half)];
  return {
    ...{ kind: "characters", line, column: at + 1 },
    ...{ there: partFrom(there, at), wanted: partFrom(wish, wishAt) },
  };
}

type Position = readonly [at: number, wishAt: number];

/** How far the two go on alike from here. */
function commonEnd(there: string, wish: string, [at, wishAt]: Position): Position {
  let same = 0;
  while (at + same < there.length && there[at + same] === wish[wishAt + same]) same += 1;
  return [at + same, wishAt + same];
}

/** Characters that are compared each with each, and those of the line on either side of them. */
const comparedMax = 1_000;
const aroundMax = 200;

function alignedNear(there: string, wish: string, column: number): Position {
  const from = Math.max(0, column - aroundMax);
  const begin = wish.slice(0, comparedMax);
  const [at, wishAt] = alignedEnd(there.slice(from, from + begin.length + 2 * aroundMax), begin);
  return [from + at, wishAt];
}

/** A shorter common part is there by chance. */
const commonMin = 2;
const roundsMax = 20;

/**
 * Where the two part, if the wish begins somewhere in the line: behind their longest common part when that is the
 * beginning of the wish; else there is a difference before it, which is looked for in the same way.
 */
function alignedEnd(there: string, wish: string): Position {
  let [left, leftWish] = [there, wish];
  let next: Position = [0, 0]; // Where the common part to the right begins.
  for (let round = 0; round < roundsMax; round += 1) {
    const { at, wishAt, length } = longestCommonPart(left, leftWish);
    if (length < commonMin) break;
    if (wishAt === 0) return [at + length, length];
    [left, leftWish, next] = [there.slice(0, at), wish.slice(0, wishAt), [at, wishAt]];
  }
  return [Math.max(0, next[0] - next[1]), 0];
}

function longestCommonPart(one: string, other: string): { at: number; wishAt: number; length: number } {
  let best = { at: 0, wishAt: 0, length: 0 };
  let before = new Uint16Array(other.length + 1); // Common ends of one[..at] and other[..wishAt], for the last `at`.
  for (let at = 1; at <= one.length; at += 1) {
    const ends = new Uint16Array(other.length + 1);
    const unit = one.charCodeAt(at - 1);
    for (let wishAt = 1; wishAt <= other.length; wishAt += 1) {
      if (unit !== other.charCodeAt(wishAt - 1)) continue;
      const length = (before[wishAt - 1] ?? 0) + 1;
      ends[wishAt] = length;
      if (length > best.length) best = { at: at - length, wishAt: wishAt - length, length };
    }
    before = ends;
  }
  return best;
}

const shownCharactersMax = 20;

function partFrom(text: string, at: number): string {
  return Array.from(text.slice(at, at + 2 * shownCharactersMax))
    .slice(0, shownCharactersMax)
    .join("");
}

/** Whether a unit is the first half of a character. */
function isHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
