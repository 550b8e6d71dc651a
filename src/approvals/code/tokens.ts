import type { Language } from "../shell/scene.ts";

/** A piece of a program; of a text in quotes what it stands for, with the code that stands in it. */
export type Token = {
  readonly kind: "name" | "text" | "number" | "sign" | "end";
  readonly text: string;
  readonly at: number;
  readonly pieces?: readonly (string | { readonly code: string })[];
  /** A bracket that closes the head of a statement: `if (…)`. */
  readonly closesHead?: boolean | undefined;
  /** It may be something else: what comes after it as well. */
  readonly isDoubtful?: boolean | undefined;
};

/** Cuts a program into pieces, without comments. Takes a step for each character. */
export function tokensOf(code: string, language: Language): Token[] {
  const tokens: Token[] = [];
  const isPython = language === "python";
  let [at, depth] = [0, 0];
  const heads: boolean[] = [];
  while (at < code.length) {
    const one = code[at] ?? "";
    const comment = commentEnd(code, at, isPython);
    if (comment !== undefined) at = comment;
    else if (one === "\n" || one === ";") {
      if (depth === 0 || one === ";") tokens.push({ kind: "end", text: one, at });
      at += 1;
    } else if (/\s/.test(one) || one === "\\") at += 1;
    else {
      const token = textAt(code, at, isPython) ?? patternAt(code, at, tokens, isPython) ?? wordAt(code, at);
      if ("([{".includes(token.text[0] ?? " ") && token.kind === "sign") depth += 1;
      if (")]}".includes(token.text[0] ?? " ") && token.kind === "sign") depth = Math.max(0, depth - 1);
      if (token.text === "(") heads.push(isHead(tokens.at(-1), tokens.at(-2)));
      tokens.push(token.text === ")" ? { ...token, closesHead: heads.pop() } : token);
      at = token.end;
    }
  }
  return tokens;
}

type Read = Token & { readonly end: number };

function commentEnd(code: string, at: number, isPython: boolean): number | undefined {
  const ends = (mark: string, from: number) => {
    const end = code.indexOf(mark, from);
    return end === -1 ? code.length : end;
  };
  if (isPython) return code[at] === "#" ? ends("\n", at) : undefined;
  if (code.startsWith("//", at)) return ends("\n", at);
  return code.startsWith("/*", at) ? ends("*/", at + 2) + 2 : undefined;
}

const pattern = /\/(?![*/])(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;

/** Where no number can end, a slash begins a regular expression: a value like any other. */
function patternAt(code: string, at: number, tokens: readonly Token[], isPython: boolean): Read | undefined {
  const meaning = isPython || code[at] !== "/" ? "divides" : slashAfter(tokens);
  if (meaning === "divides") return undefined;
  pattern.lastIndex = at;
  const found = pattern.exec(code)?.[0];
  if (found === undefined) return undefined;
  return { kind: "number", text: "0", at, end: at + found.length, isDoubtful: meaning === "doubtful" };
}

/** Words that a value follows, and those that may as well be names of values. */
const opensValue = /^(return|typeof|case|in|else|do|throw|void|delete|new|instanceof)$/;
const maybeName = /^(of|yield|await)$/;

/** A line that begins with a slash goes on with the line before it. */
function slashAfter(tokens: readonly Token[]): "divides" | "begins" | "doubtful" {
  const place = tokens.findLastIndex(({ kind, text }) => kind !== "end" || text !== "\n");
  const [before, last] = [tokens[place - 1], tokens[place]];
  if (last === undefined || last.kind === "end") return "begins";
  if (last.kind === "name") {
    if (before?.text === "." || !(opensValue.test(last.text) || maybeName.test(last.text))) return "divides";
    return maybeName.test(last.text) ? "doubtful" : "begins";
  }
  // The end of a block, or of an object.
  if (last.text === "}") return "doubtful";
  const isCounting = /[+-]/.test(last.text) && before?.text === last.text && before.at === last.at - 1;
  const isValue = last.kind !== "sign" || last.text === "]" || (last.text === ")" && last.closesHead !== true);
  return isValue || isCounting ? "divides" : "begins";
}

/** `if (`, `for await (`; a method may have such a name. */
function isHead(last: Token | undefined, before: Token | undefined): boolean {
  if (last?.text === "await") return before?.text === "for";
  return /^(if|while|for|with)$/.test(last?.text ?? "") && before?.text !== ".";
}

const wordPattern = /[\p{L}_$][\p{L}\p{N}_$]*|\d[\w.]*|\*\*|=>|[=!<>]=+|:=|\?\.(?!\d)|&&|\|\||[\s\S]/uy;

function wordAt(code: string, at: number): Read {
  wordPattern.lastIndex = at;
  const text = wordPattern.exec(code)?.[0] ?? code[at] ?? " ";
  const kind = /^[\p{L}_$]/u.test(text) ? "name" : /^\d/.test(text) ? "number" : "sign";
  return { kind, text: text === "?." ? "." : text, at, end: at + Math.max(1, text.length) };
}

const opening = /([rRbBuUfFtT]{0,2})("""|'''|"|')/y;

/** A text in quotes that begins here. */
function textAt(code: string, at: number, isPython: boolean): Read | undefined {
  if (!isPython)
    return `'"\``.includes(code[at] ?? " ")
      ? quoted(code, at, at + 1, code[at] ?? "", "", code[at] === "`" ? "${" : "")
      : undefined;
  opening.lastIndex = at;
  const [whole, prefix = "", quote = ""] = opening.exec(code) ?? [];
  if (whole === undefined) return undefined;
  return quoted(code, at, at + whole.length, quote, prefix.toLowerCase(), /[ft]/i.test(prefix) ? "{" : "");
}

function quoted(code: string, start: number, from: number, quote: string, prefix: string, hole: string): Read {
  const pieces: (string | { code: string })[] = [];
  let [at, text] = [from, ""];
  while (at < code.length && !code.startsWith(quote, at)) {
    if (quote.length === 1 && quote !== "`" && code[at] === "\n") break;
    if (hole !== "" && code.startsWith(hole, at) && !(hole === "{" && code[at + 1] === "{")) {
      const end = holeEnd(code, at + hole.length);
      pieces.push(text, {
        code: code.slice(at + hole.length, end).replace(/(![rsa])?(:[^'"[\]{}]*)?$/, hole === "{" ? "" : "$&"),
      });
      [at, text] = [end + 1, ""];
    } else if (code[at] === "\\" && !prefix.includes("r")) {
      const read = escapeAt(code, at);
      text += read.text;
      at = read.end;
    } else {
      text += code[at];
      // A brace that stands for itself is written twice.
      at += hole === "{" && /^(\{\{|\}\})$/.test(code.slice(at, at + 2)) ? 2 : 1;
    }
  }
  return { kind: "text", text: "", at: start, end: at + quote.length, pieces: [...pieces, text] };
}

function holeEnd(code: string, from: number): number {
  let depth = 0;
  for (let at = from; at < code.length && at < from + 2000; at += 1) {
    if (code[at] === "{") depth += 1;
    if (code[at] === "}") {
      if (depth === 0) return at;
      depth -= 1;
    }
  }
  return Math.min(code.length, from + 2000);
}

const escapes = /\\(?:x([0-9a-fA-F]{2})|u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|([0-7]{1,3})|([\s\S]))/y;
const short: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "\n": "" };

function escapeAt(code: string, at: number): { readonly text: string; readonly end: number } {
  escapes.lastIndex = at;
  const [whole, byte, wide, unit, octal, one] = escapes.exec(code) ?? [];
  if (whole === undefined) return { text: "", end: at + 1 };
  const hex = byte ?? wide ?? unit;
  const point = hex === undefined ? Number.parseInt(octal ?? "", 8) : Number.parseInt(hex, 16);
  const text = Number.isNaN(point)
    ? (short[one ?? ""] ?? one ?? "")
    : point <= 0x10ffff
      ? String.fromCodePoint(point)
      : "";
  return { text, end: at + whole.length };
}
