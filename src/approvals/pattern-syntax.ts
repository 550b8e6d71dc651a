import { failed, ok, type Result } from "../base/result.ts";
import type { PatternFault } from "../words/words.ts";

/** A regular expression as a tree. What a boolean answer does not need (groups, laziness) is not in it. */
export type Piece =
  | { readonly form: "one"; readonly fits: (code: number) => boolean }
  | { readonly form: "place"; readonly at: "start" | "end" | "edge" | "no_edge" }
  | { readonly form: "all" | "any"; readonly of: readonly Piece[] }
  | { readonly form: "repeat"; readonly of: Piece; readonly min: number; readonly max: number };

const patternCharactersMax = 1_000;

/** Reads what JavaScript takes for a regular expression; Python's `(?i)` at the beginning is taken too, and means nothing here. */
export function readPattern(source: string): Result<Piece, PatternFault> {
  const text = source.replace(/^\(\?i\)/, "");
  if (text === "") return failed({ fault: "empty" });
  if (text.length > patternCharactersMax) return failed({ fault: "too_long" });
  const unsupported = /(?<!\\)(?:\\\\)*(\(\?<?[=!]|\(\?[a-z-]+[:)]|\\[1-9]|\\[pPk][{<])/.exec(
    withoutClasses(text),
  )?.[1];
  if (unsupported !== undefined) return failed({ fault: "unsupported", what: unsupported });
  try {
    new RegExp(text, "i");
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^.*\/i?: /, "") : String(error);
    return failed({ fault: "syntax", why });
  }
  return ok(readAny({ all: Array.from(text), at: 0 }));
}

/** In brackets these signs stand for themselves. */
function withoutClasses(text: string): string {
  return text.replaceAll(/\\.|\[(?:\\.|[^\]\\])*\]/gs, (part) => (part.startsWith("[") ? "[]" : part));
}

/** The text is known to be right: every branch below may rely on it. */
type Signs = { readonly all: readonly string[]; at: number };
type Fits = (code: number) => boolean;

const peek = ({ all, at }: Signs) => all[at] ?? "";

function take(signs: Signs): string {
  const sign = peek(signs);
  signs.at += 1;
  return sign;
}

/** Up to the end, or to the bracket that closes the group. */
function readAny(signs: Signs): Piece {
  const branches = [readAll(signs)];
  while (peek(signs) === "|") {
    signs.at += 1;
    branches.push(readAll(signs));
  }
  const [only] = branches;
  return branches.length === 1 && only !== undefined ? only : { form: "any", of: branches };
}

function readAll(signs: Signs): Piece {
  const pieces: Piece[] = [];
  while (!["", "|", ")"].includes(peek(signs))) pieces.push(readRepeated(readSingle(signs), signs));
  return { form: "all", of: pieces };
}

function readSingle(signs: Signs): Piece {
  const sign = take(signs);
  switch (sign) {
    case "^":
      return { form: "place", at: "start" };
    case "$":
      return { form: "place", at: "end" };
    case ".":
      return { form: "one", fits: (code) => !lineEnds.has(code) };
    case "(":
      return readGroup(signs);
    case "[":
      return { form: "one", fits: readBracket(signs) };
    case "\\":
      return readEscaped(signs);
    default:
      return { form: "one", fits: literal(sign.codePointAt(0) ?? 0) };
  }
}

function readGroup(signs: Signs): Piece {
  if (peek(signs) === "?") {
    signs.at += 1;
    // `(?:` or `(?<name>`.
    if (take(signs) === "<") while (take(signs) !== ">");
  }
  const inside = readAny(signs);
  signs.at += 1;
  return inside;
}

function readRepeated(piece: Piece, signs: Signs): Piece {
  const [min, max] = readCount(signs);
  if (min === undefined || max === undefined) return piece;
  if (peek(signs) === "?") signs.at += 1;
  return { form: "repeat", of: piece, min, max };
}

function readCount(signs: Signs): readonly [min?: number, max?: number] {
  const sign = peek(signs);
  const rest = sign === "{" ? signs.all.slice(signs.at, signs.at + countSignsMax).join("") : "";
  const counted = /^\{(\d+)(,?)(\d*)\}/.exec(rest);
  signs.at += counted?.[0].length ?? (["*", "+", "?"].includes(sign) ? 1 : 0);
  if (counted !== null) {
    const [, min = "0", comma, max = ""] = counted;
    return [Number(min), comma === "" ? Number(min) : max === "" ? endless : Number(max)];
  }
  return sign === "*" ? [0, endless] : sign === "+" ? [1, endless] : sign === "?" ? [0, 1] : [];
}

function readEscaped(signs: Signs): Piece {
  if (peek(signs) === "b" || peek(signs) === "B")
    return { form: "place", at: take(signs) === "b" ? "edge" : "no_edge" };
  return { form: "one", fits: readClass(signs) ?? literal(readCode(signs)) };
}

function readClass(signs: Signs): Fits | undefined {
  const found = classes[peek(signs)];
  if (found !== undefined) signs.at += 1;
  return found;
}

/** What stands behind a backslash, as the code of one character. */
function readCode(signs: Signs): number {
  const rest = signs.all.slice(signs.at, signs.at + codeSignsMax).join("");
  const hex = /^(?:x([0-9a-f]{2})|u([0-9a-f]{4}))/i.exec(rest);
  if (hex !== null) {
    signs.at += hex[0].length;
    return Number.parseInt(hex[1] ?? hex[2] ?? "", 16);
  }
  const sign = take(signs);
  return controls[sign] ?? sign.codePointAt(0) ?? 0;
}

function readBracket(signs: Signs): Fits {
  const isNegated = peek(signs) === "^";
  if (isNegated) signs.at += 1;
  const parts: Fits[] = [];
  while (peek(signs) !== "]") {
    const from = readMember(signs);
    const isRange = peek(signs) === "-" && signs.all[signs.at + 1] !== "]";
    if (typeof from !== "number") parts.push(from);
    else if (!isRange) parts.push(literal(from));
    else {
      signs.at += 1;
      const to = readMember(signs);
      // `[a-\d]` is no range: its three members are meant.
      if (typeof to === "number") parts.push(range(from, to));
      else parts.push(literal(from), literal(hyphen), to);
    }
  }
  signs.at += 1;
  return (code) => parts.some((fits) => fits(code)) !== isNegated;
}

function readMember(signs: Signs): number | Fits {
  const sign = take(signs);
  if (sign !== "\\") return sign.codePointAt(0) ?? 0;
  if (peek(signs) !== "b") return readClass(signs) ?? readCode(signs);
  signs.at += 1;
  return backspace;
}

const endless = Number.POSITIVE_INFINITY;
const countSignsMax = 24;
const codeSignsMax = 5;
const hyphen = 0x2d;
const backspace = 0x08;
const lineEnds = new Set([0x0a, 0x0d, 0x20_28, 0x20_29]);
const controls: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, v: 11, f: 12, 0: 0 };

const isDigit = (code: number) => code >= 0x30 && code <= 0x39;
const isSpace = (code: number) => /^\s$/u.test(String.fromCodePoint(code));

/** Letters without accents, digits and `_`, as `\w` has them. */
export function isWord(code: number): boolean {
  return isDigit(code) || code === 0x5f || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}

const classes: Readonly<Record<string, Fits>> = {
  d: isDigit,
  D: (code) => !isDigit(code),
  w: isWord,
  W: (code) => !isWord(code),
  s: isSpace,
  S: (code) => !isSpace(code),
};

/** Large and small letters are the same everywhere. */
function literal(code: number): Fits {
  const wanted = folded(code);
  return (other) => other === code || folded(other) === wanted;
}

function range(from: number, to: number): Fits {
  const isIn = (code: number) => code >= from && code <= to;
  return (code) => isIn(code) || isIn(folded(code)) || isIn(lowered(code));
}

function folded(code: number): number {
  return changedCase(code, (text) => text.toUpperCase());
}

function lowered(code: number): number {
  return changedCase(code, (text) => text.toLowerCase());
}

/** A letter that becomes two (`ß`) stays what it is. */
function changedCase(code: number, change: (text: string) => string): number {
  const [first = "", more] = Array.from(change(String.fromCodePoint(code)));
  return more === undefined ? (first.codePointAt(0) ?? code) : code;
}
