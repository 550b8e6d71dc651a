import { fold } from "./fold.ts";

/**
 * What every match of a pattern must contain, as an expression for the table of trigrams: any of several ways, each with
 * texts that it cannot do without. Undefined where the pattern may match without any three characters in a row.
 * It may ask for less than the pattern does, never for more.
 */
export function trigramsOf(pattern: string): string | undefined {
  const ways = waysOf(pattern);
  if (ways === undefined || ways.length > waysMax) return undefined;
  // For FTS5 a text ends there, in what is asked and in what it has taken up.
  if (pattern.includes("\0")) return undefined;
  const expressions = ways.map((texts) => {
    const parts = new Set(texts.flatMap((text) => trigramsIn(fold(text))));
    return [...parts]
      .slice(0, trigramsMax)
      .map((part) => `"${part.replaceAll('"', '""')}"`)
      .join(" AND ");
  });
  if (expressions.length === 0 || expressions.includes("")) return undefined;
  return expressions.map((expression) => `(${expression})`).join(" OR ");
}

const waysMax = 16;
const trigramsMax = 16;

function trigramsIn(text: string): string[] {
  const characters = [...text];
  return characters.slice(2).map((_, index) => characters.slice(index, index + 3).join(""));
}

/** The alternatives of a pattern at its outermost level, each with its literal texts. */
function waysOf(pattern: string): string[][] | undefined {
  const ways: string[][] = [];
  let texts: string[] = [];
  let text = "";
  const breakText = () => {
    if (text !== "") texts.push(text);
    text = "";
  };
  for (let at = 0; at < pattern.length; ) {
    const atom = atomAt(pattern, at);
    if (atom === undefined) return undefined;
    at = atom.end;
    if (atom.kind === "or") {
      breakText();
      ways.push(texts);
      texts = [];
      continue;
    }
    const repeats = repeatsAt(pattern, at);
    at = repeats.end;
    if (atom.kind === "literal" && repeats.isOnce) text += atom.text;
    else if (atom.kind === "literal" && repeats.isNeeded) {
      text += atom.text;
      breakText();
    } else if (atom.kind !== "nothing") breakText();
  }
  breakText();
  return [...ways, texts];
}

type Atom = { readonly end: number } & (
  | { readonly kind: "literal"; readonly text: string }
  /** Anything, nothing that takes room (an anchor), or the sign between alternatives. */
  | { readonly kind: "other" | "nothing" | "or" }
);

function atomAt(pattern: string, at: number): Atom | undefined {
  const sign = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
  const end = at + sign.length;
  if (sign === "|") return { kind: "or", end };
  if (sign === "^" || sign === "$") return { kind: "nothing", end };
  if (sign === ".") return { kind: "other", end };
  if (sign === "\\") return escapeAt(pattern, at);
  if (sign === "[") return closed("other", endOfClass(pattern, at));
  if (sign === "(") return closed("other", endOfGroup(pattern, at));
  return { kind: "literal", text: sign, end };
}

function closed(kind: "other", end: number | undefined): Atom | undefined {
  return end === undefined ? undefined : { kind, end };
}

/** `\.` stands for itself and `\b` takes no room; all other letters and digits behind a backslash stand for something. */
function escapeAt(pattern: string, at: number): Atom | undefined {
  const sign = pattern[at + 1];
  if (sign === undefined) return undefined;
  if (/[bB]/.test(sign)) return { kind: "nothing", end: at + 2 };
  if (/[^\p{L}\p{N}]/u.test(sign) && sign <= "\x7f") return { kind: "literal", text: sign, end: at + 2 };
  const [whole = ""] =
    /^\\(?:u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[pP]\{[^}]*\}|k<[^>]*>|c.|\d+|.)/su.exec(pattern.slice(at)) ?? [];
  return whole === "" ? undefined : { kind: "other", end: at + whole.length };
}

function endOfClass(pattern: string, at: number): number | undefined {
  for (let index = at + 1; index < pattern.length; index += 1) {
    if (pattern[index] === "\\") index += 1;
    else if (pattern[index] === "]") return index + 1;
  }
  return undefined;
}

function endOfGroup(pattern: string, at: number): number | undefined {
  let depth = 0;
  for (let index = at; index < pattern.length; index += 1) {
    const sign = pattern[index];
    if (sign === "\\") index += 1;
    else if (sign === "[") index = (endOfClass(pattern, index) ?? pattern.length) - 1;
    else if (sign === "(") depth += 1;
    else if (sign === ")" && --depth === 0) return index + 1;
  }
  return undefined;
}

function repeatsAt(pattern: string, at: number): { end: number; isOnce: boolean; isNeeded: boolean } {
  const [whole = "", least] = /^(?:[*?+]|\{(\d+)(?:,\d*)?\})\??/.exec(pattern.slice(at)) ?? [];
  if (whole === "") return { end: at, isOnce: true, isNeeded: true };
  const isNeeded = least === undefined ? whole.startsWith("+") : Number(least) > 0;
  return { end: at + whole.length, isOnce: false, isNeeded };
}
