import { posix } from "node:path";
import type { SourceFile } from "./house.ts";
import {
  below,
  childrenOf,
  declarationOf,
  isFunction,
  isOurs,
  isTree,
  isType,
  listOf,
  nameOf,
  readSource,
  type Source,
  type Tree,
} from "./whose.ts";

// Where what was thrown may end. Everywhere else a catch stands around calls of others alone, or throws on what it does
// not know: then a mistake of ours is never taken for something that the world did. Invariant 8 of ARCHITECTURE.md.

/** The mouths by file and function, each with what becomes there of a mistake of ours. */
export const mouths: Readonly<Record<string, string>> = {
  "src/command.ts#runTyped": "the command ends with 1, in words, with an id that the log file has",
  "src/command.ts#withYard": "the same, where a yard is to be closed yet",
  "src/base/background.ts#inBackground": "work that nobody waits for: the log has it",
  "src/base/background.ts#whenOver": "for those who only wait for their turn: whoever asked for the work hears it",
  "src/http/text-stream.ts#nextOf": "the headers are out: the log has it, the reader sees the end and comes back",
  "src/http/text-stream.ts#leave": "the reader has gone: the log has it",
  "src/http/download.ts#read":
    "the headers are out: the log has it, and the connection is broken off unless the reader has left",
  "src/http/sandbox/multipart.ts#pump":
    "what ends a form while it is sent is that it broke off; the parser is another's",
  "src/http/docs/page.mjs#send": "runs in the browser: the page shows it where the answer would stand",
  "src/loop/agents/drive-tree.ts#driveOne": "the agent ends as failed, with an id that the log file has; others go on",
  "src/loop/agents/drive-tree.ts#driveTree":
    "not even that could be stored: everybody stops, and the turn ends as failed",
  "src/loop/driver.ts#drive": "the turn ends as failed, with an id that the log file has",
  "src/loop/driver.ts#endBroken": "not even that could be stored: the log has it, the conversation is left open",
  "src/loop/driver.ts#wake": "storage itself broke down: the log has it, the conversation is left open",
  "src/loop/driver.ts#hold": "whoever waits for their turn goes on: whoever asked for the work hears it",
  "src/loop/run-tool.ts#runTool": "a tool is foreign code: the call ends with an error for the model, the log has it",
  "src/loop/run-tool.ts#raceLimits": "the same, while it is waited for",
  "src/tools/custom-definition.ts#asked":
    "a tool of the operator's is foreign code: whether a person must be asked is not known, so the call is refused",
  "src/tools/custom-definition.ts#runCustom": "the same while it runs: the model reads what it says",
  "src/mcp-server/offer.ts#run": "the client gets an error with an id, the log has it",
  "src/models/demo/demo.ts#startDemoServer": "the demo model is a server: it answers 500, the log has it",
  "src/models/ask-json.ts#askJson": "asks whether a model server is there: whatever goes wrong, it has not answered",
  "src/mcp/sign-in.ts#authorise":
    "the client calls what we keep in between: whoever signs in hears that it did not work",
  "src/sandbox/executions.ts#submit": "the execution ends as crashed, so that nobody waits for ever; the log has it",
  "src/sandbox/program.ts#beginProgram": "the report says that the program was lost; the log has it",
  "src/sandbox/open-guest.ts#openGuest":
    "the guest is not started, and the user hears whose mistake it was; the log has it",
  "src/sandbox/install-packages.ts#installInGuest":
    "the installation is lost, so that no session waits for ever; the log has it",
  "src/sandbox/local/font-list.ts#files": "a list that only saves time: without it each guest makes its own",
  "src/sandbox/guest/kept-guests.ts#close":
    "a guest that was not started need not be closed: whoever asked for it hears why",
  "src/storage/sqlite/group-commit.ts#prepareTransaction":
    "is thrown where the write was asked for, and in no other of its group",
  "src/storage/postgres/lanes.ts#transactionOf":
    "is thrown where the write was asked for, and in no other of its group",
  "src/terminal/piped-console.ts#fetch": "the end of standard input, however it comes, is its end",
  "src/workspace/archive.ts#archive": "whoever reads the archive sees it end with the error",
  "scripts/setup/build-apart.mjs#buildApart":
    "the product starts without the browser app, and says why it was not built",
  "scripts/setup/lock.mjs#attempt": "whoever is quicker has the lock; anything else shows at the next step",
  "scripts/setup/install.mjs#folderBytes": "a figure of the progress: npm moves folders while we look",
};

/** A sentence for each catch that is neither a mouth, nor around others alone, nor throws on. Empty is good. */
export function inspectCatches(files: readonly SourceFile[], allowed = mouths): string[] {
  const product = files.filter(({ path }) => /^(src|bin|scripts)\/.*(?<!\.test)\.(ts|mjs)$/.test(path));
  const read = openReader(product);
  const sources = product
    .filter(({ text }) => /\bcatch\b|\.then\(|\ballSettled\b|\bPromise\.any\b|\buncaught|\bunhandled/.test(text))
    .map(({ path }) => read(path));
  const caught = sources.flatMap((source) => (source === undefined ? [] : caughtIn(source)));
  const unfit = caught.filter(
    (one) => !isOfOthers(one.guarded, one.source) && !throwsOn(one.handler, one.error, one.source, read),
  );
  const needed = new Set(unfit.map(placeOf));
  return [
    ...unfit
      .filter((one) => !(placeOf(one) in allowed))
      .map((one) => {
        const line = one.source.text.slice(0, one.guarded.start).split("\n").length;
        return `${one.source.path}:${line}: a catch around our own code that throws nothing on (${placeOf(one)} is no mouth in test/world/mouths.ts)`;
      }),
    ...Object.keys(allowed)
      .filter((place) => product.length > 1 && !needed.has(place))
      .map((place) => `${place}: a mouth where nothing ends (test/world/mouths.ts)`),
  ];
}

type Caught = {
  readonly source: Source;
  /** The function that it stands in, by name. */
  readonly inside: string;
  readonly guarded: Tree;
  readonly handler: Tree | undefined;
  readonly error: string | undefined;
};
type Read = (path: string) => Source | undefined;

function placeOf({ source, inside }: Caught): string {
  return inside === "" ? source.path : `${source.path}#${inside}`;
}

/** Methods of texts and lists, which nobody of us gives to anything else. */
const methodsOfValues = new Set(
  (
    "push map filter reduce sort includes slice subarray split replace replaceAll match startsWith endsWith concat trim " +
    "join toString toLocaleString toLocaleDateString"
  ).split(" "),
);

/** Only what others wrote is called, and waited for. */
function isOfOthers(guarded: Tree, source: Source): boolean {
  const { made } = declarationOf(nameOf(guarded) ?? "", guarded.start, source);
  if (isTree(made)) return isOfOthers(made, source);
  if (/^(?:Identifier|MemberExpression|ArrayExpression)$/.test(guarded.type) && isOurs(guarded, source)) return false;
  return below(guarded).every((node) => {
    const waitedFor = waitedForIn(node);
    if (waitedFor !== undefined) return /^(?:Call|New)Expression$/.test(waitedFor.type) || !isOurs(waitedFor, source);
    if (node.type !== "CallExpression" && node.type !== "NewExpression") return true;
    if (!isType(node.callee, "MemberExpression")) return !isOurs(node.callee, source);
    const method = nameOf(node.callee.property) ?? "";
    if (isOurs(node.callee.object, source)) return false;
    return (
      !methodsOfValues.has(method) ||
      !listOf(node.arguments).some((given) => isType(given, "Identifier") && source.functions.has(nameOf(given) ?? ""))
    );
  });
}

/** `await …`, `for await (… of …)`, `yield* …`: what may be of anybody, though nothing is called. */
function waitedForIn(node: Tree): Tree | undefined {
  const isLoop = node.type === "ForOfStatement" && node.await === true;
  const isHandedOn = node.type === "YieldExpression" && node.delegate === true;
  const waitedFor = isLoop ? node.right : isHandedOn || node.type === "AwaitExpression" ? node.argument : undefined;
  return isTree(waitedFor) ? waitedFor : undefined;
}

/**
 * It throws what it caught, rejects with it, or hands it to a function that throws what it does not know. Under a
 * condition that only counts where the condition looks at what was caught; another error is none without the first as its
 * cause.
 */
function throwsOn(
  handler: Tree | undefined,
  error: string | undefined,
  source: Source,
  read: Read,
  depth = 2,
): boolean {
  if (isType(handler, "Identifier")) return handsOn(handler, source, read, depth);
  if (handler === undefined || error === undefined) return false;
  const known = new Set([error]);
  const mentions = (value: unknown) => below(value).some((node) => known.has(nameOf(node) ?? ""));
  const visit = (node: Tree): boolean => {
    if (isFunction(node)) return false;
    if (node.type === "VariableDeclarator" && mentions(node.init)) known.add(nameOf(node.id) ?? "");
    if (node.type === "ThrowStatement") return mentions(node.argument);
    if (node.type === "CallExpression" && mentions(node.arguments) && handsOn(node.callee, source, read, depth))
      return true;
    if (node.type === "BlockStatement") {
      for (const statement of listOf(node.body).filter(isTree)) {
        if (visit(statement)) return true;
        if (isBlindEnd(statement, mentions)) return false;
      }
      return false;
    }
    const condition = node.test ?? node.discriminant ?? (node.type === "LogicalExpression" ? node.left : undefined);
    const isBlind = condition !== undefined && !mentions(condition);
    return (isBlind ? listOf(condition).filter(isTree) : childrenOf(node)).some(visit);
  };
  return isFunction(handler) ? childrenOf(handler).some(visit) : visit(handler);
}

/** It leaves, whatever was caught: what stands below is not always come to. */
function isBlindEnd(statement: Tree, mentions: (value: unknown) => boolean): boolean {
  if (leaving.test(statement.type)) return !mentions(statement);
  if (statement.type !== "IfStatement" || mentions(statement.test)) return false;
  return below([statement.consequent, statement.alternate]).some(({ type }) => leaving.test(type));
}

const leaving = /^(?:Return|Break|Continue)Statement$/;

function handsOn(callee: unknown, source: Source, read: Read, depth: number): boolean {
  if (!isType(callee, "MemberExpression")) {
    const name = nameOf(callee) ?? "";
    return name === "reject" || resolves(name, source, read, depth);
  }
  const [object, method] = [nameOf(callee.object), nameOf(callee.property)];
  // A stream that is told of an error hands it to its reader.
  return method === "reject" || (object === "controller" && method === "error");
}

/** Whether a function of this name throws what it is given. An assertion says nothing about what was caught. */
function resolves(name: string, source: Source, read: Read, depth: number): boolean {
  if (depth === 0 || name === "assert" || name === "unreachable") return false;
  const from = source.imports.get(name);
  const there = from?.startsWith(".") ? read(posix.join(posix.dirname(source.path), from)) : source;
  const found = there?.functions.get(name);
  if (there === undefined || found === undefined) return false;
  return listOf(found.params).some((param) => {
    const body = isTree(found.body) ? found.body : undefined;
    return throwsOn(body, nameOf(param), there, read, depth - 1);
  });
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

function caughtIn(source: Source): Caught[] {
  const walk = (node: Tree, inside: string): Caught[] => {
    const name = isFunction(node.init) ? nameOf(node.id) : isFunction(node.value) ? nameOf(node.key) : undefined;
    const here = name ?? (node.type === "FunctionDeclaration" ? nameOf(node.id) : undefined) ?? inside;
    const caught = caughtBy(node).map((one) => ({ source, inside: here, ...one }));
    return [...caught, ...childrenOf(node).flatMap((child) => walk(child, here))];
  };
  return walk(source.program, "");
}

/**
 * `try … catch`, `.catch(…)`, `.then(…, …)`; `Promise.allSettled(…)`, after which nobody needs to look, and
 * `Promise.any(…)`, which forgets all errors but the last of all; and what the process does with what nobody caught.
 */
function caughtBy(node: Tree): Pick<Caught, "guarded" | "handler" | "error">[] {
  if (node.type === "TryStatement" && isTree(node.handler) && isTree(node.block)) {
    const { body, param } = node.handler;
    return isTree(body) ? [{ guarded: node.block, handler: body, error: nameOf(param) }] : [];
  }
  if (node.type !== "CallExpression" || !isType(node.callee, "MemberExpression")) return [];
  const { object, property } = node.callee;
  const given = listOf(node.arguments);
  if (nameOf(object) === "Promise" && /^(?:allSettled|any)$/.test(nameOf(property) ?? ""))
    return given.filter(isTree).map((guarded) => ({ guarded, handler: undefined, error: undefined }));
  if (nameOf(object) === "process" && isTree(given[0]) && /^u(?:ncaught|nhandled)/.test(String(given[0].value)))
    return given
      .slice(1)
      .filter(isTree)
      .map((handler) => handledBy(handler, { ...anybodys, start: node.start }));
  const handler = nameOf(property) === "catch" ? given[0] : nameOf(property) === "then" ? given[1] : undefined;
  // A schema has a method of that name, too, which takes a value.
  if (!isTree(handler) || !isTree(object) || nameOf(handler) === "undefined") return [];
  return [handledBy(handler, object)];
}

function handledBy(handler: Tree, guarded: Tree): Pick<Caught, "guarded" | "handler" | "error"> {
  const [param] = listOf(handler.params);
  return { guarded, handler: isTree(handler.body) ? handler.body : handler, error: nameOf(param) };
}

const anybodys = { type: "ArrayExpression", elements: [{ type: "ThisExpression", start: 0 }] };
