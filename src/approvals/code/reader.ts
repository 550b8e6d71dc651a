import { any, type Language } from "../shell/scene.ts";
import { type Token, tokensOf } from "./tokens.ts";

/** What an expression can stand for: texts, something with a name (`os.remove`), a list. */
export type Value = {
  readonly texts: readonly string[];
  readonly ref?: string | undefined;
  readonly items?: readonly Value[] | undefined;
  /** Those of the items that have names: `{ cwd: "temp" }`. */
  readonly named?: readonly Argument[] | undefined;
  /** What a method was taken from. */
  readonly owner?: Value | undefined;
  /** The path of the file that it was read from. */
  readonly file?: string | undefined;
};
export type Argument = { readonly key: string | undefined; readonly value: Value };

/** Who is told of what happens in a program, and says what comes of it. */
export type Listener = {
  called(callee: Value, args: readonly Argument[], at: number): Value;
  attribute(owner: Value, name: string): Value;
  variable(name: string): Value;
  assigned(name: string, value: Value, at: number): void;
  text(text: string, at: number): void;
  /** A function that is named and not called: somebody may call it later, by any name. */
  taken(value: Value, at: number): void;
  /** From here on something was too deep, or too much, to be read. */
  lost(at: number): void;
  /** Counts what the reading costs. */
  spend(steps: number): void;
};

export const unknown: Value = { texts: [any] };
const textValue = (text: string): Value => ({ texts: [text] });

const depthMax = 60;
/** Expressions of one program: heads of loops are read more than once. */
const expressionsMax = 100_000;
const textsMax = 64;
/** A longer text that was put together can be anything. */
const textCharactersMax = 8_192;
/** A longer name is nobody's. */
export const refCharactersMax = 200;
const charactersPerStep = 32;
const codeCharactersPerStep = 8;
/** Words that stand before an expression and change nothing of what it stands for. */
const before = new Set([
  "await",
  "new",
  "not",
  "typeof",
  "void",
  "delete",
  "return",
  "yield",
  "-",
  "+",
  "!",
  "*",
  "**",
  "~",
  "async",
  "raise",
  "throw",
]);

/** A cursor over a program. Reads expressions one after the other; what it does not know it passes over. */
export class Reader {
  readonly tokens: readonly Token[];
  readonly language: Language;
  at = 0;
  readonly #listener: Listener;
  readonly #closing: ReadonlyMap<number, number>;
  #depth = 0;
  #expressions = 0;
  /** How deep the arguments of the innermost call stand. */
  #passedAt = -1;

  constructor(code: string, language: Language, listener: Listener) {
    listener.spend(code.length / codeCharactersPerStep);
    this.tokens = tokensOf(code, language);
    this.language = language;
    this.#listener = listener;
    this.#closing = pairsOf(this.tokens);
    const doubtful = this.tokens.find(({ isDoubtful }) => isDoubtful);
    if (doubtful !== undefined) listener.lost(doubtful.at);
  }

  peek(ahead = 0): string {
    const token = this.tokens[this.at + ahead];
    return token === undefined || token.kind === "text" ? "" : token.text;
  }

  isName(ahead = 0): boolean {
    return this.tokens[this.at + ahead]?.kind === "name";
  }

  /** An expression with its `+`, `/`, `%` and its choices; always takes a token at least. */
  expression(): Value {
    this.#expressions += 1;
    this.#listener.spend(1);
    if (this.#depth > depthMax || this.#expressions > expressionsMax) return this.#skip();
    this.#depth += 1;
    let value = this.#operand();
    for (;;) {
      const sign = this.peek();
      if (sign === "+" || sign === "/" || sign === "%") {
        this.at += 1;
        value = this.#combined(sign, value, this.#operand());
      } else if (sign === "||" || sign === "or" || sign === "and" || sign === "&&") {
        this.at += 1;
        value = either(value, this.#operand());
      } else if (
        sign === "if" &&
        this.language === "python" &&
        this.#depth > 0 &&
        this.tokens[this.at - 1]?.kind !== "end"
      ) {
        this.at += 1;
        this.expression();
        if (this.peek() !== "else") break;
        this.at += 1;
        value = either(value, this.expression());
      } else break;
    }
    this.#depth -= 1;
    return value;
  }

  /** Too deep to follow: what stands between these brackets is passed over. */
  #skip(): Value {
    this.#listener.lost(this.tokens[this.at]?.at ?? 0);
    this.at = (this.#closing.get(this.at) ?? this.at) + 1;
    return unknown;
  }

  /** Counted by its characters: texts that double with each line grow without end. */
  #combined(sign: string, left: Value, right: Value): Value {
    const value = combined(sign, left, right);
    this.#listener.spend(costOf(value));
    return value;
  }

  #operand(): Value {
    while (before.has(this.peek()) && this.at < this.tokens.length - 1) this.at += 1;
    const at = this.tokens[this.at]?.at ?? 0;
    const value = this.#reached();
    // What is handed to a call is judged with what it is handed along with.
    if (value.ref !== undefined && this.#passedAt !== this.#depth) this.#listener.taken(value, at);
    return value;
  }

  #reached(): Value {
    let value = this.#primary();
    for (;;) {
      this.#listener.spend(1);
      const sign = this.peek();
      if (sign === "." && this.isName(1)) {
        value = this.#listener.attribute(value, this.peek(1));
        this.at += 2;
      } else if (sign === "(") value = this.#call(value);
      else if (sign === "[") value = indexed(value, this.#list());
      else return value;
    }
  }

  #primary(): Value {
    const token = this.tokens[this.at];
    if (token === undefined) return unknown;
    if (token.kind === "text") return this.#texts();
    if (token.text === "(" || token.text === "[" || token.text === "{") {
      const entries = this.#entries();
      const items = entries.map(([, value]) => value);
      if (token.text === "(" && items.length === 1) return items[0] ?? unknown;
      const named = entries.flatMap(([key, value]) => (key === undefined ? [] : [{ key, value }]));
      return { texts: [any], items, named: token.text === "{" && named.length > 0 ? named : undefined };
    }
    this.at += 1;
    if (token.kind === "number") return textValue(token.text);
    return token.kind === "name" ? this.#listener.variable(token.text) : unknown;
  }

  /** Texts that stand side by side are one. */
  #texts(): Value {
    let value = textValue("");
    for (let token = this.tokens[this.at]; token?.kind === "text"; token = this.tokens[this.at]) {
      this.at += 1;
      for (const piece of token.pieces ?? []) {
        if (typeof piece === "string") this.#listener.text(piece, token.at);
        const next = typeof piece === "string" ? textValue(piece) : this.#inner(piece.code);
        value = this.#combined("+", value, next);
      }
    }
    return value;
  }

  #inner(code: string): Value {
    if (this.#depth > 8) return unknown;
    const reader = new Reader(code, this.language, this.#listener);
    return reader.tokens.length === 0 ? unknown : reader.expression();
  }

  #call(callee: Value): Value {
    const { at } = this.tokens[this.at] ?? { at: 0 };
    this.#bindParameter(callee);
    const args: Argument[] = [];
    const outer = this.#passedAt;
    this.#passedAt = this.#depth + 1;
    for (const [key, value] of this.#entries()) args.push({ key, value });
    this.#passedAt = outer;
    return this.#listener.called(callee, args, at);
  }

  /** `list.forEach((file) => …)`: the word stands for each of them. */
  #bindParameter(callee: Value): void {
    if (!/\.(forEach|map|filter|some|every|then)$/.test(callee.ref ?? "") || callee.owner === undefined) return;
    const skip = ["(", "function", "async"];
    let ahead = 1;
    while (skip.includes(this.peek(ahead))) ahead += 1;
    const isArrow = this.peek(ahead + 1) === "=>" || (ahead > 1 && [",", ")"].includes(this.peek(ahead + 1)));
    if (this.language !== "javascript" || !isArrow) return;
    const one = callee.ref?.endsWith(".then") === true ? callee.owner : elements(callee.owner);
    if (this.isName(ahead)) this.#listener.assigned(this.peek(ahead), one, 0);
  }

  #list(): Value[] {
    return this.#entries().map(([, value]) => value);
  }

  /** What stands between brackets, up to the closing one. */
  #entries(): [string | undefined, Value][] {
    const end = this.#closing.get(this.at) ?? this.tokens.length;
    const isObject = this.language === "javascript" && this.peek() === "{";
    this.at += 1;
    this.#bindComprehension(end);
    const entries: [string | undefined, Value][] = [];
    let isNew = true;
    let key: string | undefined;
    while (this.at < end) {
      const sign = this.peek();
      if (sign === ",") [isNew, key] = [true, undefined];
      const isKey = this.isName() && (this.peek(1) === "=" || this.peek(1) === ":");
      if (this.language === "javascript" && (declaration(this, this.#listener) || assignment(this, this.#listener)))
        continue;
      if (isKey && sign !== "else") {
        key = sign;
        this.at += 2;
      } else if (sign === "," || sign === ":" || sign === "=>") this.at += 1;
      else {
        const from = this.at;
        // `{ cwd }`: a name that stands for its own value.
        const own = isObject && this.isName() && /^[,}]$/.test(this.peek(1)) ? sign : undefined;
        const value = this.expression();
        if (this.peek() === ":" && this.tokens[from]?.kind === "text") key = value.texts[0];
        else {
          if (key !== undefined) this.#listener.assigned(`.${key}`, value, this.tokens[from]?.at ?? 0);
          if (isNew) entries.push([key ?? own, value]);
          isNew = false;
        }
      }
    }
    this.at = end + 1;
    return entries;
  }

  /** `[f(x) for x in y]`: what x stands for is told at its end. */
  #bindComprehension(end: number): void {
    const from = this.at;
    for (let at = from; at < end; at += 1) {
      const inner = this.#closing.get(at);
      if (inner !== undefined) at = inner;
      if (this.tokens[at]?.kind !== "name" || this.tokens[at]?.text !== "for") continue;
      this.at = at;
      loopHead(this, this.#listener);
      at = Math.max(at, this.at - 1);
    }
    this.at = from;
  }
}

/** `for x in y`, `for (const x of y)`: binds x to what y holds. */
export function loopHead(reader: Reader, listener: Listener): void {
  reader.at += 1;
  const names: string[] = [];
  while (["(", "const", "let", "var", "await", ",", ")"].includes(reader.peek()) || reader.isName()) {
    if (["in", "of"].includes(reader.peek())) break;
    if (reader.isName() && !["const", "let", "var", "await"].includes(reader.peek())) names.push(reader.peek());
    reader.at += 1;
  }
  if (!["in", "of"].includes(reader.peek())) return;
  reader.at += 1;
  const source = reader.expression();
  const each = source.items !== undefined && source.ref === "tuples" ? source.items : undefined;
  for (const [at, one] of names.entries())
    listener.assigned(one, each?.[at] ?? (names.length === 1 ? elements(source) : unknown), 0);
}

/** `const { rm, x: y } = require("fs")`; answers whether there was one. */
export function declaration(reader: Reader, listener: Listener): boolean {
  if (!["const", "let", "var"].includes(reader.peek())) return false;
  reader.at += 1;
  if (reader.peek() !== "{") return true;
  const names: [string, string][] = [];
  reader.at += 1;
  while (reader.at < reader.tokens.length && reader.peek() !== "}") {
    if (reader.isName() && reader.peek(1) === ":" && reader.isName(2)) names.push([reader.peek(), reader.peek(2)]);
    else if (reader.isName() && reader.peek(-1) !== ":") names.push([reader.peek(), reader.peek()]);
    reader.at += 1;
  }
  reader.at += 1;
  if (reader.peek() !== "=") return true;
  reader.at += 1;
  const value = reader.expression();
  for (const [own, name] of names) listener.assigned(name, listener.attribute(value, own), 0);
  return true;
}

/** `x = …`, also with a type; answers whether there was one. */
export function assignment(reader: Reader, listener: Listener): boolean {
  if (!reader.isName() || reader.peek(-1) === ".") return false;
  const typed = reader.peek(1) === ":" && reader.isName(2) && reader.peek(3) === "=" && reader.language === "python";
  const signAt = typed ? 3 : 1;
  if (!["=", ":="].includes(reader.peek(signAt))) return false;
  const [name, at] = [reader.peek(), reader.tokens[reader.at]?.at ?? 0];
  reader.at += signAt + 1;
  listener.assigned(name, reader.expression(), at);
  return true;
}

/** What a loop over it goes through. */
export function elements(value: Value): Value {
  if (value.items === undefined) return unknown;
  const texts = value.items.flatMap((item) => item.texts);
  return { texts: texts.length === 0 || texts.length > textsMax ? [any] : texts };
}

function indexed(value: Value, index: readonly Value[]): Value {
  const at = Number(index[0]?.texts[0] ?? Number.NaN);
  if (value.items !== undefined) return value.items[at] ?? elements(value);
  // `getattr` in another dress: os["remove"].
  const [name = any] = index[0]?.texts ?? [];
  if (value.ref === undefined || value.ref.length + name.length > refCharactersMax) return unknown;
  return { texts: [any], ref: `${value.ref}.${name}`, owner: value };
}

function either(some: Value, other: Value): Value {
  const texts = [...new Set([...some.texts, ...other.texts])];
  return { ...some, texts: texts.length > textsMax ? [any] : texts, ref: some.ref ?? other.ref };
}

/** What it costs to make it. */
export function costOf({ texts, items }: Value): number {
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  return 1 + (items?.length ?? 0) + characters / charactersPerStep;
}

/** So many texts that they can be anything. */
export function kept(value: Value): Value {
  return value.texts.length > textsMax ? { ...value, texts: [any] } : value;
}

/** `+` puts texts together, `/` makes a path of them, `%` fills one in. */
function combined(sign: string, left: Value, right: Value): Value {
  if (sign === "%") return { texts: left.texts.map((text) => text.replace(/%[-\d.]*[a-zA-Z]/g, any)) };
  if (sign === "+" && left.items !== undefined && right.items !== undefined)
    return { texts: [any], items: [...left.items, ...right.items] };
  const between = sign === "/" ? "/" : "";
  if (left.texts.length * right.texts.length > textsMax) return unknown;
  const both = (text: string, next: string) => {
    if (sign === "/" && next.startsWith("/")) return next; // Of paths the last absolute one counts.
    return text !== "" && text.length + next.length > textCharactersMax ? any : `${text}${between}${next}`;
  };
  return { texts: left.texts.flatMap((text) => right.texts.map((next) => both(text, next))) };
}

function pairsOf(tokens: readonly Token[]): ReadonlyMap<number, number> {
  const pairs = new Map<number, number>();
  const open: number[] = [];
  for (const [at, { kind, text }] of tokens.entries()) {
    if (kind !== "sign") continue;
    if ("([{".includes(text)) open.push(at);
    const from = ")]}".includes(text) ? open.pop() : undefined;
    if (from !== undefined) pairs.set(from, at);
  }
  for (const from of open) pairs.set(from, tokens.length);
  return pairs;
}
