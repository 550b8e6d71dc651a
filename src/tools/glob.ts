import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { shortened } from "./output.ts";

/** Whether a path fits, folders separated by `/`. */
export type Glob = (path: string) => boolean;

const patternCharactersMax = 1_000;
/** Patterns that one pattern with braces may stand for. */
const choicesMax = 200;
const shownBytesMax = 120;

/**
 * `*` and `?` inside a name, `**` for any folders, `[abc]`, `[!a-z]`, `{a,b}`, `\` before a character that means itself.
 * A pattern without `/` is looked for in every folder; names that begin with a dot only fit a pattern that says so.
 * Matching never goes back further than the last star, so no pattern takes long.
 */
export function compileGlob(pattern: string, { ignoresCase = false } = {}): Result<Glob, Failure<"pattern_invalid">> {
  const shown = shortened(pattern, shownBytesMax);
  if (pattern.length > patternCharactersMax)
    return failure("pattern_invalid", { pattern: shown, why: "too_long", max: patternCharactersMax });
  const choices = spread(Array.from(plainCase(pattern, ignoresCase)));
  if (choices === undefined) return failure("pattern_invalid", { pattern: shown, why: "too_many", max: choicesMax });
  if (/^[./\s]*$/.test(pattern)) return failure("pattern_invalid", { pattern: shown, why: "nothing" });
  const globs = choices.map(parsePattern);
  return ok((path) => {
    const names = plainCase(path, ignoresCase)
      .split("/")
      .map((name) => Array.from(name));
    return globs.some((segments) => fitsPath(segments, names));
  });
}

function plainCase(text: string, ignoresCase: boolean): string {
  const composed = text.normalize("NFC");
  return ignoresCase ? composed.toLowerCase() : composed;
}

/** Whether a pattern can only be met by names that begin with a dot. */
export function wantsHidden(pattern: string): boolean {
  return /(^|[/{,])\\?\.[^/]/.test(pattern.replace(/^(\.\/)+/, ""));
}

/** All patterns that braces stand for; undefined when there are too many. */
function spread(pattern: readonly string[]): string[][] | undefined {
  const braces = findBraces(pattern);
  if (braces === undefined) return [[...pattern]];
  const { open, commas, close } = braces;
  const head = pattern.slice(0, open);
  const tails = spread(pattern.slice(close + 1));
  const all: string[][] = [];
  let from = open + 1;
  for (const to of [...commas, close]) {
    const choices = spread(pattern.slice(from, to));
    if (choices === undefined || tails === undefined) return undefined;
    for (const choice of choices) for (const tail of tails) all.push([...head, ...choice, ...tail]);
    if (all.length > choicesMax) return undefined;
    from = to + 1;
  }
  return all;
}

/** The first pair of braces that belong together and have a comma between them. */
function findBraces(pattern: readonly string[]): { open: number; commas: number[]; close: number } | undefined {
  const open: { at: number; commas: number[] }[] = [];
  let found: { open: number; commas: number[]; close: number } | undefined;
  for (let index = 0; index < pattern.length; index += 1) {
    const unit = pattern[index];
    if (unit === "\\") index += 1;
    else if (unit === "{") open.push({ at: index, commas: [] });
    else if (unit === ",") open.at(-1)?.commas.push(index);
    else if (unit === "}") {
      const { at, commas } = open.pop() ?? { at: -1, commas: [] };
      const isFirst = commas.length > 0 && (found === undefined || at < found.open);
      if (isFirst) found = { open: at, commas, close: index };
    }
  }
  return found;
}

type Piece = "star" | ((unit: string) => boolean);
/** `deep` stands for any number of folders. */
type Segment = "deep" | { readonly pieces: readonly Piece[]; readonly isHidden: boolean };

function parsePattern(pattern: readonly string[]): Segment[] {
  const names = pattern.join("").split("/");
  const meant = names.filter((name) => name !== "" && name !== ".");
  const segments = meant.map((name): Segment => (name === "**" ? "deep" : parseName(Array.from(name))));
  return names.length === 1 ? ["deep", ...segments] : segments;
}

function parseName(name: readonly string[]): Exclude<Segment, "deep"> {
  const pieces: Piece[] = [];
  for (let index = 0; index < name.length; index += 1) {
    const set = name[index] === "[" ? parseSet(name, index) : undefined;
    if (set !== undefined) {
      pieces.push(set.has);
      index = set.close;
    } else if (name[index] === "*") {
      if (pieces.at(-1) !== "star") pieces.push("star");
    } else if (name[index] === "?") pieces.push(() => true);
    else {
      if (name[index] === "\\" && index + 1 < name.length) index += 1;
      const meant = name[index];
      pieces.push((unit) => unit === meant);
    }
  }
  return { pieces, isHidden: name[name[0] === "\\" ? 1 : 0] === "." };
}

/** `[abc]`, `[a-z]`, `[!a]`; undefined where the bracket is not closed and so means itself. */
function parseSet(
  name: readonly string[],
  open: number,
): { has: (unit: string) => boolean; close: number } | undefined {
  const isInverse = name[open + 1] === "!" || name[open + 1] === "^";
  const first = open + (isInverse ? 2 : 1);
  const close = name.indexOf("]", first + 1); // A bracket that comes first is one of the set.
  if (close < 0) return undefined;
  const ranges: [from: string, to: string][] = [];
  for (let index = first; index < close; index += 1) {
    const from = name[index] ?? "";
    const isRange = name[index + 1] === "-" && index + 2 < close;
    ranges.push([from, (isRange ? name[index + 2] : undefined) ?? from]);
    if (isRange) index += 2;
  }
  const has = (unit: string) => ranges.some(([from, to]) => from <= unit && unit <= to) !== isInverse;
  return { has, close };
}

function fitsPath(segments: readonly Segment[], names: readonly (readonly string[])[]): boolean {
  return fits(segments, names, {
    isStar: (segment) => segment === "deep",
    isTaken: (name) => name[0] !== ".",
    isMet: (segment, name) => segment !== "deep" && fitsName(segment, name),
  });
}

function fitsName({ pieces, isHidden }: Exclude<Segment, "deep">, name: readonly string[]): boolean {
  if (name[0] === "." && !isHidden) return false;
  return fits(pieces, name, {
    isStar: (piece) => piece === "star",
    isTaken: () => true,
    isMet: (piece, unit) => piece !== "star" && piece(unit),
  });
}

type Rules<P, U> = {
  readonly isStar: (piece: P) => boolean;
  /** Whether a star may stand for this unit. */
  readonly isTaken: (unit: U) => boolean;
  readonly isMet: (piece: P, unit: U) => boolean;
};

/** Goes through both once; at a dead end the last star takes one unit more. */
function fits<P, U>(pieces: readonly P[], units: readonly U[], { isStar, isTaken, isMet }: Rules<P, U>): boolean {
  let [piece, unit] = [0, 0];
  let star: { piece: number; unit: number } | undefined;
  while (unit < units.length || piece < pieces.length) {
    const [wanted, given] = [pieces[piece], units[unit]];
    if (wanted !== undefined && isStar(wanted)) {
      star = { piece, unit };
      piece += 1;
    } else if (wanted !== undefined && given !== undefined && isMet(wanted, given)) {
      piece += 1;
      unit += 1;
    } else {
      const next = star === undefined ? undefined : units[star.unit];
      if (star === undefined || next === undefined || !isTaken(next)) return false;
      star = { piece: star.piece, unit: star.unit + 1 };
      [piece, unit] = [star.piece + 1, star.unit];
    }
  }
  return true;
}
