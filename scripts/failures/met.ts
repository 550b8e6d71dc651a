// Which tests meet which failures. A test meets one where it compares its code, and did not make the failure itself.
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parseSync } from "oxc-parser";
import {
  isFunction,
  isTree,
  type Named,
  nameOf,
  namesIn,
  type Scope,
  scopeOfFile,
  type Tree,
  treesIn,
  walk,
} from "./trees.ts";

export interface TestWithCodes {
  readonly file: string;
  readonly name: string;
  /** What assertions compare something with, word by word: in the test, or in a helper that it calls. */
  readonly compared: ReadonlySet<string>;
  /** Whether one assertion compares both; so does a helper with what it is given, and a table with all that is in it. */
  readonly comparesTogether: (code: string, why: string) => boolean;
  /** Whether the test, or its doubles, make such a failure by hand: then it was not met. */
  readonly makes: (code: string) => boolean;
}

type Opened = { readonly program: Tree; readonly scope: Scope };
type Reached = { readonly words: Set<string>; readonly read: Set<Tree> };
/** A function that a test calls: what it compares itself, and which of the things that it is given. */
type CalledByTest = { readonly words: Set<string>; readonly asserted: ReadonlySet<string> };

/** Reads test files below `root`, and what they import from among the tests. */
export class TestReader {
  readonly #root: string;
  readonly #read: (file: string) => string;
  readonly #opened = new Map<string, Opened>();
  readonly #helpers = new Map<Tree, CalledByTest>();

  constructor(root: string, read = (file: string) => readFileSync(join(root, file), "utf8")) {
    this.#root = root;
    this.#read = read;
  }

  testsOf(file: string): TestWithCodes[] {
    const { program, scope } = this.#open(file);
    const tests: TestWithCodes[] = [];
    walk(program, scope, (tree, at) => {
      const [name, ...rest] = isTest(tree) ? treesIn(tree.arguments) : [];
      const body = rest.at(-1);
      if (name === undefined || body === undefined) return undefined;
      const assertions = this.#assertionsIn(body, at);
      const compared = new Set(assertions.flatMap((words) => [...words]));
      const made = whenAsked(() => this.#madeIn(body, at, nothingYet()));
      const makes = (code: string) => made().has(code);
      const comparesTogether = (code: string, why: string) =>
        assertions.some((words) => words.has(code) && words.has(why));
      tests.push({ file, name: titleOf(name), compared, comparesTogether, makes });
      return [];
    });
    return tests;
  }

  /** What each assertion below compares, and each helper that is called there. */
  #assertionsIn(tree: Tree, scope: Scope): Set<string>[] {
    const assertions: Set<string>[] = [];
    walk(tree, scope, (call, at) => {
      if (call.type !== "CallExpression") return undefined;
      const words = new Set<string>();
      const values = comparedBy(call) ?? this.#comparedByHelper(call, at, words);
      for (const value of values) this.#readValue(value, at, words, new Set());
      assertions.push(words);
      return undefined;
    });
    return assertions;
  }

  /** Of what a helper is given, that which its own assertions compare. */
  #comparedByHelper(call: Tree, scope: Scope, words: Set<string>): Tree[] {
    const called =
      isTree(call.callee) && call.callee.type === "Identifier" ? this.#find(call.callee, scope) : undefined;
    if (called === undefined || !isFunction(called.tree)) return [];
    const helper = this.#helper(called);
    for (const word of helper.words) words.add(word);
    const params = treesIn(called.tree.params);
    return treesIn(call.arguments).filter((_, index) =>
      treesIn(params[index]).some((param) => namesIn(param).some((name) => helper.asserted.has(name))),
    );
  }

  #helper(called: Named): CalledByTest {
    const known = this.#helpers.get(called.tree);
    if (known !== undefined) return known;
    const helper = { words: new Set<string>(), asserted: namesAsserted(called) };
    this.#helpers.set(called.tree, helper);
    for (const words of this.#assertionsIn(called.tree, called.scope)) for (const word of words) helper.words.add(word);
    return helper;
  }

  /** The words of a value that is compared; a name stands for the data that it was given. */
  #readValue(value: Tree, scope: Scope, words: Set<string>, read: Set<Tree>): void {
    walk(value, scope, (tree, at) => {
      for (const word of wordsOf(tree)) words.add(word);
      // What a function is given goes in and need not come out, unless it looks for it or makes what is expected.
      if (tree.type === "CallExpression" && !handsOn(tree)) return this.#builtBy(tree, at, words, read);
      const named = tree.type === "Identifier" ? this.#find(tree, at) : undefined;
      if (named === undefined || isFunction(named.tree) || read.has(named.tree)) return undefined;
      read.add(named.tree);
      this.#readValue(named.tree, named.scope, words, read);
      return undefined;
    });
  }

  /** `expected("io")` is compared with what it says of the answer; of all other calls only whose they are. */
  #builtBy(call: Tree, scope: Scope, words: Set<string>, read: Set<Tree>): Tree[] {
    const [callee] = treesIn(call.callee);
    const called = callee?.type === "Identifier" ? this.#find(callee, scope) : undefined;
    const [built] = called !== undefined && isFunction(called.tree) ? treesIn(called.tree.body) : [];
    const isData =
      built !== undefined && (/^(?:Object|Array|Parenthesized)Expression$/.test(built.type) || handsOn(built));
    if (called === undefined || !isData) return treesIn(call.callee);
    if (!read.has(built)) {
      read.add(built);
      this.#readValue(built, called.scope, words, read);
    }
    return treesIn(call.arguments);
  }

  /** The codes of failures that are made below, or in what is named there; not of those that only say what is expected. */
  #madeIn(tree: Tree, scope: Scope, made: Reached): Set<string> {
    const expected = new Set<Tree>();
    this.#reach(tree, scope, made, (part, at) => {
      if (part.type === "CallExpression")
        for (const one of comparedBy(part)?.flatMap(makersIn) ?? []) expected.add(one);
      if (isMaker(part) && !expected.has(part))
        for (const given of treesIn(part.arguments)) this.#readValue(given, at, made.words, new Set());
    });
    return made.words;
  }

  /** Sees all that stands below, and in whatever is named there. */
  #reach(tree: Tree, scope: Scope, { words, read }: Reached, see: (part: Tree, at: Scope) => void): void {
    walk(tree, scope, (part, at) => {
      see(part, at);
      const named = part.type === "Identifier" ? this.#find(part, at) : undefined;
      if (named === undefined || read.has(named.tree)) return undefined;
      read.add(named.tree);
      this.#reach(named.tree, named.scope, { words, read }, see);
      return undefined;
    });
  }

  #find(name: Tree, scope: Scope): Named | undefined {
    const word = String(name.name);
    for (let at: Scope | undefined = scope; at !== undefined; at = at.outer)
      if (at.names.has(word)) return this.#imported(at.names.get(word), word);
    return undefined;
  }

  /** Only what tests share is read further: a failure that our own code makes is a real one. */
  #imported(named: Named | undefined, word: string): Named | undefined {
    if (named?.tree.type !== "ImportDeclaration") return named;
    const from = isTree(named.tree.source) ? String(named.tree.source.value) : "";
    const file = relative(this.#root, join(this.#root, dirname(named.scope.file), from));
    const isOfTests = from.startsWith(".") && /^test\/.*\.ts$|\.testing\.ts$/.test(file);
    return isOfTests ? this.#open(file).scope.names.get(word) : undefined;
  }

  #open(file: string): Opened {
    const program: unknown = this.#opened.get(file)?.program ?? parseSync(file, this.#read(file)).program;
    if (!isTree(program)) throw new Error(`${file} cannot be parsed`);
    const opened = this.#opened.get(file) ?? { program, scope: scopeOfFile(file, program) };
    this.#opened.set(file, opened);
    return opened;
  }
}

function isMaker(tree: Tree): boolean {
  return (
    tree.type === "CallExpression" && /^(?:makeFailure|storedFailure|failure|problemFor)$/.test(nameOf(tree.callee))
  );
}

/** Failures that are made to be compared, and are handed to nobody else. */
function makersIn(value: Tree): Tree[] {
  const found: Tree[] = [];
  walk(value, nowhere, (tree) => {
    if (isMaker(tree)) found.push(tree);
    return tree.type === "CallExpression" ? [] : undefined;
  });
  return found;
}

/** Most tests are never asked. */
function whenAsked<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

const nothingYet = (): Reached => ({ words: new Set(), read: new Set() });
const nowhere: Scope = { file: "", names: new Map(), outer: undefined };

/** What an assertion compares: not what it runs, nor what it says when it fails. Undefined: it is none. */
function comparedBy({ callee, arguments: given }: Tree): Tree[] | undefined {
  const all = treesIn(given);
  if (!isTree(callee)) return undefined;
  const name = nameOf(callee);
  if (callee.type === "Identifier") return name === "assert" ? all.slice(0, 1) : undefined;
  if (nameOf(callee.object) !== "assert") return undefined;
  if (name === "ok") return all.slice(0, 1);
  return /^(?:doesNot)?(?:throws|rejects)$/i.test(name) ? all.slice(1, 2) : all.slice(0, 2);
}

function namesAsserted({ tree, scope }: Named): Set<string> {
  const names = new Set<string>();
  walk(tree, scope, (call) => {
    for (const value of call.type === "CallExpression" ? (comparedBy(call) ?? []) : [])
      walk(value, scope, (part) => {
        if (part.type === "Identifier") names.add(nameOf(part));
        return undefined;
      });
    return undefined;
  });
  return names;
}

function isTest(tree: Tree): boolean {
  return tree.type === "CallExpression" && isTree(tree.callee) && /^test$/.test(nameOf(tree.callee));
}

function titleOf(name: Tree): string {
  const parts = treesIn(name.quasis).map((part) => String(Object(part.value).cooked));
  return name.type === "TemplateLiteral" ? parts.join("…") : String(name.value);
}

/** Whether what is compared with the answer of a call is compared with what the call is given, too. */
function handsOn(call: Tree): boolean {
  const looks =
    /^(?:includes|startsWith|endsWith|test|some|every|find|filter|map|flatMap|entries|values|keys|join|fill)$/;
  if (isTree(call.callee) && call.callee.type === "MemberExpression") return looks.test(nameOf(call.callee));
  // A person reads no code: what is looked for then is what the failure says.
  return isMaker(call) || /^(?:failed|saidOf)$/.test(nameOf(call.callee));
}

/**
 * A word without `_` is one of everyday language, too: it counts alone, or among names as in `404 mcp_server_failed http` and
 * `form_unfit: broken`.
 */
function wordsOf(tree: Tree): string[] {
  const text = textOf(tree);
  const words = text.split(/\W+/);
  const isOfNames = tree.type === "Literal" && /^"(?:(?:\w+ )*|\w+: )\w+"$/.test(text);
  return isOfNames && (words.length === 3 || text.includes("_")) ? words : words.filter((word) => word.includes("_"));
}

function textOf(tree: Tree): string {
  return String(tree.type === "TemplateElement" ? Object(tree.value).raw : (tree.raw ?? tree.name ?? ""));
}
