import { foldCharacters } from "./fold.ts";

/** The lines of a text that are most like the wanted ones, and why they are not the same. */
export type NearMiss = {
  /** Number of the first of `lines`, from 1 on. */
  readonly first: number;
  readonly lines: readonly string[];
  readonly difference: Difference | undefined;
};

export type Difference =
  | { readonly kind: "line_numbers" | "escapes" }
  | { readonly kind: "indentation" | "case"; readonly line: number }
  /** From `column` on, the file and the wanted text go different ways. */
  | {
      readonly kind: "characters";
      readonly line: number;
      readonly column: number;
      readonly there: string;
      readonly wanted: string;
    };

const linesMax = 50_000;
const lineCharactersMax = 2_000;
const shownLinesMin = 5;
const shownLinesMax = 10;
/** Below this share of common pairs of characters two lines have nothing to do with each other. */
const likenessMin = 0.4;

/** Undefined where nothing in the text is like what was wanted. */
export function findNearMiss(text: string, wanted: string): NearMiss | undefined {
  const lines = text.replace(/\n$/, "").split("\n").slice(0, linesMax).map(withoutEnd);
  const { lines: wantedLines, hasNumbers } = withoutNumbers(trimmedLines(wanted));
  const start = bestStart(lines, wantedLines);
  if (start === undefined) return undefined;
  const other = hasNumbers ? { kind: "line_numbers" as const } : differenceAt(lines, wantedLines, start);
  const difference = isEscaped(text, wanted) ? { kind: "escapes" as const } : other;
  const focus = other !== undefined && "line" in other ? other.line - 1 : start;
  const from = shownFrom(lines.length, start, wantedLines.length, focus);
  const count = Math.min(Math.max(wantedLines.length, shownLinesMin), shownLinesMax);
  return { first: from + 1, lines: lines.slice(from, from + count), difference };
}

function withoutEnd(line: string): string {
  return line.replace(/\r$/, "").slice(0, lineCharactersMax);
}

/** The wanted lines without empty ones around them: those are never what made the difference. */
function trimmedLines(wanted: string): string[] {
  const lines = wanted.split("\n").map(withoutEnd);
  const first = lines.findIndex((line) => line.trim() !== "");
  const last = lines.findLastIndex((line) => line.trim() !== "");
  return first < 0 ? [] : lines.slice(first, last + 1);
}

const copiedNumber = /^\s*\d+(?:\t|\s*[:|\u2192]\s?)/;

function withoutNumbers(lines: readonly string[]): { lines: readonly string[]; hasNumbers: boolean } {
  const hasNumbers = lines.length > 0 && lines.every((line) => line.trim() === "" || copiedNumber.test(line));
  return { lines: hasNumbers ? lines.map((line) => line.replace(copiedNumber, "")) : lines, hasNumbers };
}

/** Where most of the wanted lines stand; else the line that is most like the longest of them. */
function bestStart(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const places = new Map<string, number[]>();
  wanted.forEach((line, index) => {
    const key = keyOf(line);
    if (key !== "") places.set(key, [...(places.get(key) ?? []), index]);
  });
  const scores = new Map<number, number>();
  lines.forEach((line, index) => {
    const key = keyOf(line);
    for (const place of places.get(key) ?? [])
      scores.set(index - place, (scores.get(index - place) ?? 0) + Math.min(key.length, 40));
  });
  let best: { start: number; score: number } | undefined;
  for (const [start, score] of scores) if (score > (best?.score ?? 0)) best = { start, score };
  return best === undefined ? likestStart(lines, wanted) : Math.max(0, best.start);
}

function likestStart(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const longest = wanted.reduce((chosen, line, index) => {
    return keyOf(line).length > keyOf(wanted[chosen] ?? "").length ? index : chosen;
  }, 0);
  const pairs = pairsOf(keyOf(wanted[longest] ?? ""));
  let best: { at: number; likeness: number } | undefined;
  lines.forEach((line, at) => {
    const likeness = likenessOf(pairs, pairsOf(keyOf(line)));
    if (likeness >= likenessMin && likeness > (best?.likeness ?? 0)) best = { at, likeness };
  });
  return best === undefined ? undefined : Math.max(0, best.at - longest);
}

const keyCharactersMax = 200;

/** A line as it is compared: without blanks and case, and without what is only drawn differently. */
function keyOf(line: string): string {
  return foldCharacters(line.slice(0, 2 * keyCharactersMax))
    .replaceAll(/\s+/g, "")
    .toLowerCase()
    .slice(0, keyCharactersMax);
}

function pairsOf(key: string): ReadonlyMap<string, number> {
  const pairs = new Map<string, number>();
  for (let index = 0; index + 1 < key.length; index += 1) {
    const pair = key.slice(index, index + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

/** Twice what both have in common, of all that both have. */
function likenessOf(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): number {
  let common = 0;
  let all = 0;
  for (const [pair, count] of one) {
    common += Math.min(count, other.get(pair) ?? 0);
    all += count;
  }
  for (const count of other.values()) all += count;
  return all === 0 ? 0 : (2 * common) / all;
}

/** The first line that is not as it was wanted. */
function differenceAt(lines: readonly string[], wanted: readonly string[], start: number): Difference | undefined {
  for (const [index, wish] of wanted.entries()) {
    const there = (lines[start + index] ?? "").trimEnd();
    // The wanted text may begin and end in the middle of a line.
    const isSame = wanted.length === 1 ? there.includes(wish.trimEnd()) : there === wish.trimEnd();
    if (isSame || (index === 0 && there.endsWith(wish.trimEnd()))) continue;
    // So the blanks before it are no difference.
    const skipped = index === 0 && wish.trimStart() === wish ? there.length - there.trimStart().length : 0;
    return differenceOf(there, wish.trimEnd(), { line: start + index + 1, skipped });
  }
  return undefined;
}

const shownCharactersMax = 20;

function differenceOf(there: string, wanted: string, place: { line: number; skipped: number }): Difference {
  const { line, skipped } = place;
  if (there.trim() === wanted.trim()) return { kind: "indentation", line };
  if (there.toLowerCase().trim() === wanted.toLowerCase().trim()) return { kind: "case", line };
  const [one, other] = [Array.from(there.slice(skipped)), Array.from(wanted)];
  let same = 0;
  while (same < one.length && one[same] === other[same]) same += 1;
  const part = (units: string[]) => units.slice(same, same + shownCharactersMax).join("");
  return { kind: "characters", line, column: skipped + same + 1, there: part(one), wanted: part(other) };
}

/** Whether the wanted text is there, once `\n` and `\"` in it are read as what they stand for. */
function isEscaped(text: string, wanted: string): boolean {
  const meant = wanted.replaceAll(/\\([nt"'\\])/g, (_, unit: string) => escapes.get(unit) ?? unit);
  return meant !== wanted && meant.trim() !== "" && text.includes(meant);
}

const escapes: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
]);

/** At least five lines and at most ten, with the difference among them. */
function shownFrom(all: number, start: number, wanted: number, focus: number): number {
  if (wanted >= shownLinesMin && wanted <= shownLinesMax) return start;
  if (wanted > shownLinesMax) return Math.max(start, focus - Math.floor(shownLinesMax / 2));
  const before = Math.floor((shownLinesMin - wanted) / 2);
  return Math.max(0, Math.min(start - before, all - shownLinesMin));
}
