import type { Difference } from "../../words/words.ts";
import { differenceAt } from "./difference.ts";
import { findLikest, type Likeness, type Plain, plainText, plainUnit } from "./likeness.ts";

/** The lines of a text that are most like the wanted ones, and why they are not the same. */
export type NearMiss = {
  readonly kind: "near";
  /** Number of the first of `lines`, from 1 on. */
  readonly first: number;
  readonly lines: readonly string[];
  readonly difference: Difference | undefined;
  /** What to look at in a long line: the number of the line, and how far into it. */
  readonly focus: { readonly line: number; readonly column: number };
};

/** `isAll`: all of the text was looked at. */
export type NoMiss = { readonly kind: "none"; readonly isAll: boolean };

/** As much of the text and of what is wanted as can be compared while others wait. */
const lookedCharactersMax = 1_000_000;
const wantedCharactersMax = 20_000;

export function findNearMiss(text: string, wanted: string): NearMiss | NoMiss {
  const meant = withoutEscapes(wanted);
  const isEscaped = meant !== wanted && meant.trim() !== "" && text.includes(meant);
  const written = trimmedLines((isEscaped ? meant : wanted).slice(0, wantedCharactersMax));
  const part = lookedPart(text, written);
  const plain = plainText(part.text);
  const find = (lines: readonly string[]) => findLikest(plain, plainText(lines.join("\n")));
  const bare = withoutNumbers(written);
  const [place, barePlace] = [find(written), bare === undefined ? undefined : find(bare)];
  const isMetBare = barePlace !== undefined && barePlace.share > (place?.share ?? 0);
  // A file may have numbers of its own.
  if (bare !== undefined && isMetBare && !copiedNumber.test(lineOf(part.text, plain, barePlace.found.line)))
    return missAt(part, plain, { place: barePlace, lines: bare, known: { kind: "line_numbers" } });
  if (place === undefined) return { kind: "none", isAll: part.text.length === text.length };
  return missAt(part, plain, { place, lines: written, known: isEscaped ? { kind: "escapes" } : undefined });
}

/** Some of a text: whole lines from its line `first` (an index) on. */
type Part = { readonly text: string; readonly first: number };

function lookedPart(text: string, wanted: readonly string[]): Part {
  if (text.length <= lookedCharactersMax) return { text, first: 0 };
  const longest = wanted.reduce((one, other) => (other.trim().length > one.length ? other.trim() : one), "");
  const at = longest === "" ? -1 : text.indexOf(longest);
  const from = text.lastIndexOf("\n", Math.max(0, at - lookedCharactersMax / 2)) + 1;
  let first = 0;
  for (let end = text.indexOf("\n"); end >= 0 && end < from; end = text.indexOf("\n", end + 1)) first += 1;
  return { text: text.slice(from, from + lookedCharactersMax), first };
}

/** The wanted lines without empty ones around them: those are never what made the difference. */
function trimmedLines(wanted: string): string[] {
  const lines = wanted.split("\n").map((line) => line.replace(/\r$/, ""));
  const first = lines.findIndex((line) => line.trim() !== "");
  const last = lines.findLastIndex((line) => line.trim() !== "");
  return first < 0 ? [] : lines.slice(first, last + 1);
}

const copiedNumber = /^\s*\d+(?:\t|\s*[:|\u2192]\s?)/;

/** Undefined where not every line begins like one that was copied with its number. */
function withoutNumbers(lines: readonly string[]): readonly string[] | undefined {
  const hasNumbers = lines.length > 0 && lines.every((line) => line.trim() === "" || copiedNumber.test(line));
  return hasNumbers ? lines.map((line) => line.replace(copiedNumber, "")) : undefined;
}

/** The text once `\n` and `\"` in it are read as what they stand for. */
function withoutEscapes(wanted: string): string {
  return wanted.replaceAll(/\\([nt"'\\])/g, (_, unit: string) => escapes.get(unit) ?? unit);
}

const escapes: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
]);

const shownLinesMin = 5;
const shownLinesMax = 10;

type Found = { readonly place: Likeness; readonly lines: readonly string[]; readonly known: Difference | undefined };

function missAt(part: Part, plain: Plain, { place, lines, known }: Found): NearMiss {
  const lineAt = (index: number) => lineOf(part.text, plain, index);
  const column = columnOf(lineAt(place.found.line), place.found.unit - (plain.lineUnits[place.found.line] ?? 0));
  const found = { line: place.found.line, column };
  const seen = differenceAt({ lineAt, found }, lines, place.line);
  const focus = focusOf(known === undefined ? seen : undefined, found);
  const all = plain.lineStarts.length - (part.text.endsWith("\n") ? 1 : 0);
  const from = shownFrom(all, place.line, lines.length, focus.line);
  const count = Math.min(Math.max(lines.length, shownLinesMin), shownLinesMax, all - from);
  const difference = known ?? seen;
  return {
    kind: "near",
    first: part.first + from + 1,
    lines: Array.from({ length: count }, (_, index) => lineAt(from + index)),
    difference:
      difference !== undefined && "line" in difference
        ? { ...difference, line: part.first + difference.line }
        : difference,
    focus: { line: part.first + focus.line + 1, column: focus.column },
  };
}

function lineOf(text: string, { lineStarts }: Plain, index: number): string {
  const from = lineStarts[index];
  if (from === undefined) return "";
  const next = lineStarts[index + 1];
  return text.slice(from, next === undefined ? undefined : next - 1).replace(/\r$/, "");
}

/** How far into a line so many compared units reach. */
function columnOf(line: string, units: number): number {
  let left = units;
  let column = 0;
  for (; column < line.length && left > 0; column += 1) if (plainUnit(line.charCodeAt(column)) > 0) left -= 1;
  return column;
}

/** The difference, where it has a place; else where the wanted text was found. */
function focusOf(seen: Difference | undefined, found: { line: number; column: number }) {
  if (seen === undefined || !("line" in seen)) return found;
  const line = seen.line - 1;
  if (seen.kind === "characters") return { line, column: seen.column - 1 };
  return { line, column: line === found.line ? found.column : 0 };
}

/** At least five lines and at most ten, with the difference among them. */
function shownFrom(all: number, start: number, wanted: number, focus: number): number {
  if (wanted >= shownLinesMin && wanted <= shownLinesMax) return start;
  if (wanted > shownLinesMax) return Math.max(start, focus - Math.floor(shownLinesMax / 2));
  const before = Math.floor((shownLinesMin - wanted) / 2);
  return Math.max(0, Math.min(start - before, all - shownLinesMin));
}
