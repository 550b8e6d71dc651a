import { posix } from "node:path";
import { parseSync } from "oxc-parser";
import type { SourceFile } from "./house.ts";

// Where what was thrown may end. Everywhere else a catch stands around calls of others alone, or throws on what it does
// not know: then a mistake of ours is never taken for something that the world did. Invariant 8 of ARCHITECTURE.md.

/** The mouths, each with what becomes there of a mistake of ours. */
export const mouths: Readonly<Record<string, string>> = {
  "src/main.ts": "the command ends with 1, in words, with an id that the log file has",
  "src/base/background.ts": "work that nobody waits for: the log has it",
  "src/http/text-stream.ts": "a stream whose headers are out: the log has it, the reader sees the end and comes back",
  "src/http/download.ts": "the same for a file: the connection breaks off, for its length was promised",
  "src/http/sandbox/multipart.ts": "what ends a form while it is sent is that it broke off; the parser is another's",
  "src/http/docs/page.mjs": "runs in the browser: the page shows it where the answer would stand",
  "src/loop/driver.ts": "the turn ends as failed, with an id that the log file has",
  "src/loop/run-tool.ts": "a tool is foreign code: the call ends with an error for the model, the log has it",
  "src/models/demo/demo.ts": "the demo model is a server: it answers 500, the log has it",
  "src/models/ask-json.ts": "asks whether a model server is there: whatever goes wrong, it has not answered",
  "src/observe/log-file.ts": "the log cannot log its own fault: the screen says once that there is none",
  "src/sandbox/executions.ts": "the execution ends as crashed, so that nobody waits for ever; the log has it",
  "src/sandbox/program.ts": "the report says that the program was lost; the log has it",
  "src/sandbox/open-guest.ts": "the guest is not started, and the user hears whose mistake it was; the log has it",
  "src/sandbox/install-packages.ts": "the installation is lost, so that no session waits for ever; the log has it",
  "src/sandbox/local/font-list.ts": "a list that only saves time: without it each guest makes its own",
  "src/storage/sqlite/group-commit.ts": "is thrown where the write was asked for, and in no other of its group",
  "src/terminal/piped-console.ts": "the end of standard input, however it comes, is its end",
  "src/workspace/archive.ts": "whoever reads the archive sees it end with the error",
  "src/workspace/spool.ts": "what a sender throws is the end of the transfer, not of the disk",
  "scripts/setup/lock.mjs": "whoever is quicker has the lock; anything else shows at the next step",
  "scripts/setup/install.mjs": "a figure of the progress: npm moves folders while we look",
};

/** A sentence for each catch that is neither a mouth, nor around others alone, nor throws on. Empty is good. */
export function inspectCatches(files: readonly SourceFile[], allowed = mouths): string[] {
  const product = files.filter(({ path }) => /^(src|bin|scripts)\/.*(?<!\.test)\.(ts|mjs)$/.test(path));
  const read = openReader(product);
  const sources = product.filter(({ text }) => /\bcatch\b|\.then\(/.test(text)).map(({ path }) => read(path));
  return [
    ...sources.flatMap((source) => (source === undefined || source.path in allowed ? [] : findUnfit(source, read))),
    ...Object.keys(allowed)
      .filter((path) => product.length > 1 && (read(path)?.catches.length ?? 0) === 0)
      .map((path) => `${path}: a mouth that catches nothing (test/world/mouths.ts)`),
  ];
}

type Tree = { readonly type: string; readonly start: number; readonly [field: string]: unknown };
type Caught = { readonly guarded: Tree; readonly handler: Tree; readonly error: string | undefined };
type Source = {
  readonly path: string;
  readonly text: string;
  readonly catches: readonly Caught[];
  /** Where names come from that were imported. */
  readonly imports: ReadonlyMap<string, string>;
  readonly functions: ReadonlyMap<string, Tree>;
  /** Everything else that has a name here. */
  readonly names: ReadonlySet<string>;
};
type Read = (path: string) => Source | undefined;

function findUnfit(source: Source, read: Read): string[] {
  return source.catches
    .filter(({ guarded, handler, error }) => !isOfOthers(guarded, source) && !throwsOn(handler, error, source, read))
    .map(({ guarded }) => {
      const line = source.text.slice(0, guarded.start).split("\n").length;
      return `${source.path}:${line}: a catch around our own code that throws nothing on (mouths in test/world/mouths.ts)`;
    });
}

/** Methods of the platform and of packages, for values of which the text does not say whose they are. */
const methodsOfOthers = new Set(
  (
    "read write readFile writeFile stat sync close kill cancel json text question shutdown exec run get prepare " +
    "discovery authorizationCodeGrant fetchUserInfo claims addSubnet decode parse safeParse destroy end " +
    "isFile isDirectory isSocket toString toLocaleString toLocaleDateString push map filter reduce sort includes slice " +
    "subarray split replace test match startsWith concat entries trim join"
  ).split(" "),
);

/** Only what others wrote is called: built-in modules, packages, the platform; and `base/`, which is as plain. */
function isOfOthers(guarded: Tree, { imports, functions, names }: Source): boolean {
  const isOurs = (name: string) => {
    const from = imports.get(name);
    if (from !== undefined) return from.startsWith(".") && !from.includes("/base/");
    return functions.has(name) || names.has(name);
  };
  if (guarded.type === "Identifier") return false;
  return below(guarded).every((node) => {
    // A promise that was handed in may be of anybody.
    if (node.type === "AwaitExpression") return !isType(node.argument, "Identifier");
    if (node.type !== "CallExpression" && node.type !== "NewExpression") return true;
    const callee = node.callee;
    // What is handed in under this name is the platform's, or stands in its place.
    if (isType(callee, "Identifier")) return callee.name === "fetch" || !isOurs(String(callee.name));
    if (!isType(callee, "MemberExpression")) return false;
    const root = rootOf(callee);
    const method = isType(callee.property, "Identifier") ? String(callee.property.name) : "";
    return (isType(root, "Identifier") && !isOurs(String(root.name))) || methodsOfOthers.has(method);
  });
}

/** It throws, rejects, or hands what it caught to a function that throws what it does not know. */
function throwsOn(handler: Tree, error: string | undefined, source: Source, read: Read, depth = 2): boolean {
  if (isType(handler, "Identifier")) return resolves(String(handler.name), source, read, depth);
  return below(handler).some((node) => {
    if (node.type === "ThrowStatement") return true;
    if (node.type !== "CallExpression") return false;
    // A stream that is told of an error hands it to its reader.
    const member = isType(node.callee, "MemberExpression") ? node.callee : undefined;
    if (nameOf(member?.object) === "controller" && nameOf(member?.property) === "error") return true;
    const name = nameOf(node.callee) ?? "";
    const isGiven = error === undefined || below(node.arguments).some((one) => one.name === error);
    return isGiven && (name === "reject" || resolves(name, source, read, depth));
  });
}

/** Whether a function of this name throws. An assertion says nothing about what was caught. */
function resolves(name: string, source: Source, read: Read, depth: number): boolean {
  if (depth === 0 || name === "assert" || name === "unreachable") return false;
  const own = source.functions.get(name);
  if (own !== undefined) return throwsOn(own, undefined, source, read, depth - 1);
  const from = source.imports.get(name);
  const there = from?.startsWith(".") ? read(posix.join(posix.dirname(source.path), from)) : undefined;
  const found = there?.functions.get(name);
  return there !== undefined && found !== undefined && throwsOn(found, undefined, there, read, depth - 1);
}

/** Parses a file when it is first asked for. */
function openReader(files: readonly SourceFile[]): Read {
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  const known = new Map<string, Source>();
  return (path) => {
    const text = texts.get(path);
    if (text === undefined) return undefined;
    const source = known.get(path) ?? readSource(path, text);
    known.set(path, source);
    return source;
  };
}

function readSource(path: string, text: string): Source {
  const catches: Caught[] = [];
  const imports = new Map<string, string>();
  const functions = new Map<string, Tree>();
  const names = new Set<string>();
  const { program, module } = parseSync(path, text);
  for (const { moduleRequest, entries } of module.staticImports)
    for (const { localName } of entries) imports.set(localName.value, moduleRequest.value);
  for (const node of below(program)) {
    catches.push(...caughtBy(node));
    for (const pattern of [node.type === "VariableDeclarator" ? node.id : [], node.params])
      for (const name of below(pattern)) if (name.type === "Identifier") names.add(String(name.name));
    const isFunction = node.type === "FunctionDeclaration" || node.type === "VariableDeclarator";
    if (
      isFunction &&
      isType(node.id, "Identifier") &&
      (node.type[0] === "F" || isType(node.init, "ArrowFunctionExpression"))
    )
      functions.set(String(node.id.name), node);
  }
  return { path, text, catches, imports, functions, names };
}

/** `try … catch`, `.catch(…)`, and `.then(…, …)`. */
function caughtBy(node: Tree): Caught[] {
  if (node.type === "TryStatement" && isTree(node.handler) && isTree(node.block)) {
    const { body, param } = node.handler;
    return isTree(body) ? [{ guarded: node.block, handler: body, error: nameOf(param) }] : [];
  }
  if (node.type !== "CallExpression" || !isType(node.callee, "MemberExpression")) return [];
  const { object, property } = node.callee;
  const given: unknown[] = Array.isArray(node.arguments) ? node.arguments : [];
  const handler = nameOf(property) === "catch" ? given[0] : nameOf(property) === "then" ? given[1] : undefined;
  // A schema has a method of that name, too, which takes a value.
  if (!isTree(handler) || !isTree(object) || nameOf(handler) === "undefined") return [];
  const [param] = Array.isArray(handler.params) ? handler.params : [];
  return [{ guarded: object, handler: isTree(handler.body) ? handler.body : handler, error: nameOf(param) }];
}

function rootOf(member: Tree): unknown {
  let root: unknown = member;
  while (isTree(root) && /^(Member|Call|New|Chain)Expression$/.test(root.type))
    root = root.object ?? root.callee ?? root.expression;
  return root;
}

/** A node and everything in it. */
function below(value: unknown): Tree[] {
  if (Array.isArray(value)) return value.flatMap(below);
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.values(value).flatMap((field) => (typeof field === "object" ? below(field) : []));
  return isTree(value) ? [value, ...inner] : inner;
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

function isType(value: unknown, type: string): value is Tree {
  return isTree(value) && value.type === type;
}

function nameOf(node: unknown): string | undefined {
  return isTree(node) && typeof node.name === "string" ? node.name : undefined;
}
