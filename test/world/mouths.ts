import { posix } from "node:path";
import type { SourceFile } from "./house.ts";
import { type Mouths, mouths } from "./known-mouths.ts";
import {
  below,
  childrenOf,
  declarationOf,
  isFunction,
  isMadeByUs,
  isOurImport,
  isOurs,
  isTree,
  isType,
  listOf,
  nameOf,
  readSource,
  type Source,
  type Tree,
  typesMadeOf,
} from "./whose.ts";

// Where what was thrown may end. Everywhere else a catch stands around calls of others alone, or throws on what it does
// not know: then a mistake of ours is never taken for something that the world did. Invariant 8 of ARCHITECTURE.md.

/** A sentence for each catch that is neither a mouth, nor around others alone, nor throws on. Empty is good. */
export function inspectCatches(files: readonly SourceFile[], allowed: Mouths = mouths): string[] {
  const product = files.filter(({ path }) =>
    /^(src|bin|scripts|web\/(?:src|public))\/.*(?<!\.test)\.(tsx?|m?js)$/.test(path),
  );
  const read = openReader(product);
  const sources = product.filter(({ text }) => mayCatch.test(text)).map(({ path }) => read(path));
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
        return `${one.source.path}:${line}: a catch around our own code that throws nothing on (${placeOf(one)} is no mouth in test/world/known-mouths.ts)`;
      }),
    ...Object.keys(allowed)
      .filter((place) => product.length > 1 && !needed.has(place))
      .map((place) => `${place}: a mouth where nothing ends (test/world/known-mouths.ts)`),
  ];
}

/** Most files have nothing of it, and then they are not read. */
const mayCatch =
  /\bcatch\b|\.then\(|\ballSettled\b|\bPromise\.any\b|\buncaught|\bunhandled|\bsetUncaught|\bgetDerivedStateFromError\b|\bcomponentDidCatch\b|\bWorker\b|\bnode:stream\b/;

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

/** Only what others wrote is called, and waited for. */
function isOfOthers(guarded: Tree, source: Source): boolean {
  const { made } = declarationOf(nameOf(guarded) ?? "", guarded.start, source);
  if (isTree(made)) return isOfOthers(made, source);
  if (/^(?:Identifier|MemberExpression|ArrayExpression)$/.test(guarded.type) && isOurs(guarded, source)) return false;
  return below(guarded).every((node) => {
    const waitedFor = waitedForIn(node);
    if (waitedFor !== undefined) return /^(?:Call|New)Expression$/.test(waitedFor.type) || !isOurs(waitedFor, source);
    if (node.type === "TaggedTemplateExpression") return !isOurs(node.tag, source);
    if (node.type !== "CallExpression" && node.type !== "NewExpression") return true;
    const given = listOf(node.arguments);
    if (isStreaming(node, source) && given.some((one) => isFunction(one) || isOurs(one, source))) return false;
    const caller = isType(node.callee, "MemberExpression") ? node.callee.object : node.callee;
    return !isOurs(caller, source) && !given.some((one) => holdsFunctionOfOurs(one, source) || isMadeByUs(one, source));
  });
}

/**
 * Whoever is given it calls it: `text.split(path).map(mend)`, `JSON.parse(text, mend)`, `Reflect.apply(look, …)`; and so in
 * what holds it, `createContext({ mend })`. A function that is written out there is looked at itself.
 */
function holdsFunctionOfOurs(given: unknown, source: Source, depth = 8): boolean {
  if (!isTree(given) || depth === 0) return false;
  const inner = (one: unknown) => holdsFunctionOfOurs(one, source, depth - 1);
  switch (given.type) {
    case "Identifier": {
      const name = nameOf(given) ?? "";
      const { made } = declarationOf(name, given.start, source);
      const isHolding = isType(made, "ObjectExpression") || isType(made, "ArrayExpression");
      // One that is written out in what a name stands for is not looked at where it is handed on.
      const isOfName = isHolding && (below(made).some(isFunction) || inner(made));
      return source.functions.has(name) || isOurImport(name, source) || isOfName;
    }
    case "ConditionalExpression":
      return inner(given.consequent) || inner(given.alternate);
    case "LogicalExpression":
      return inner(given.left) || inner(given.right);
    default:
      return [given.properties, given.elements, given.value, given.argument, given.expression]
        .flatMap(listOf)
        .some(inner);
  }
}

/** `pipeline(…)` and `finished(…)` of Node, by whatever name: they end by what ends the streams that they are given. */
function isStreaming({ callee }: Tree, source: Source): boolean {
  const name = nameOf(callee) ?? "";
  return /^[a-z]/.test(name) && source.imports.get(name)?.startsWith("node:stream") === true;
}

/** `await …`, `for (… of …)`, `yield* …`: what may be of anybody, though nothing is called. */
function waitedForIn(node: Tree): Tree | undefined {
  const isLoop = node.type === "ForOfStatement";
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
  const making = files.filter(({ text }) => mayMake.test(text));
  const made = new Set(making.flatMap(({ path, text }) => typesMadeOf(readSource(path, text))));
  return (path) => {
    const text = texts.get(path);
    if (text === undefined) return undefined;
    const source = known.get(path) ?? readSource(path, text, made);
    known.set(path, source);
    return source;
  };
}

const mayMake = /\bimplements\b|\w & /;

function caughtIn(source: Source): Caught[] {
  const walk = (node: Tree, inside: string): Caught[] => {
    const name = isFunction(node.init) ? nameOf(node.id) : isFunction(node.value) ? nameOf(node.key) : undefined;
    const here = name ?? (node.type === "FunctionDeclaration" ? nameOf(node.id) : undefined) ?? inside;
    const ways = [...caughtBy(node), ...caughtByListening(node, source), ...caughtByStreaming(node, source)];
    const caught = ways.map((one) => ({ source, inside: here, ...one }));
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
  // React's form: it takes whatever the parts inside of it throw.
  if (isFunction(node.value) && /^(?:getDerivedStateFromError|componentDidCatch)$/.test(nameOf(node.key) ?? ""))
    return [handledBy(node.value, { ...anybodys, start: node.start })];
  if (node.type !== "CallExpression") return [];
  const given = listOf(node.arguments);
  const { object, method } = calledOn(node);
  if (method === "allSettled" || (nameOf(object) === "Promise" && method === "any"))
    return given.filter(isTree).map((guarded) => ({ guarded, handler: undefined, error: undefined }));
  const isUncaught = isTree(given[0]) && /^u(?:ncaught|nhandled)/.test(String(given[0].value));
  if (nameOf(object) === "process" && (isUncaught || method.startsWith("setUncaught")))
    return given
      .slice(isUncaught ? 1 : 0)
      .filter(isTree)
      .map((handler) => handledBy(handler, { ...anybodys, start: node.start }));
  const handler = method === "catch" ? given[0] : method === "then" ? given[1] : undefined;
  // A schema has a method of that name, too, which takes a value.
  if (!isTree(handler) || !isTree(object) || nameOf(handler) === "undefined") return [];
  return [handledBy(handler, object)];
}

/** `own.catch(…)`, in any spelling; a function that was taken out of its object is called on nothing. */
function calledOn({ callee }: Tree): { readonly object: unknown; readonly method: string } {
  if (!isType(callee, "MemberExpression")) return { object: undefined, method: nameOf(callee) ?? "" };
  const { object, property } = callee;
  return { object, method: nameOf(property) ?? (isTree(property) ? String(property.value) : "") };
}

/** `pipeline(…, (error) => …)`, `finished(…, (error) => …)`. Their other form answers a promise, which is caught as others are. */
function caughtByStreaming(node: Tree, source: Source): Pick<Caught, "guarded" | "handler" | "error">[] {
  const name = nameOf(node.callee) ?? "";
  if (node.type !== "CallExpression" || !isStreaming(node, source) || source.imports.get(name) !== "node:stream")
    return [];
  const given = listOf(node.arguments).filter(isTree);
  const handler = given.at(-1);
  const elements = given.slice(0, -1);
  return handler === undefined ? [] : [handledBy(handler, { type: "ArrayExpression", start: node.start, elements })];
}

/** `worker.on("error", …)`, `worker.onerror = …`: what code of ours threw in a thread of its own. */
function caughtByListening(node: Tree, source: Source): Pick<Caught, "guarded" | "handler" | "error">[] {
  if (isType(node.left, "MemberExpression") && nameOf(node.left.property) === "onerror" && isTree(node.right))
    return isThread(node.left.object, source) ? [handledBy(node.right, { ...anybodys, start: node.start })] : [];
  if (node.type !== "CallExpression" || !isType(node.callee, "MemberExpression")) return [];
  const [event, handler] = listOf(node.arguments).filter(isTree);
  if (!/^(?:on|once|addListener)$/.test(nameOf(node.callee.property) ?? "") || event?.value !== "error") return [];
  return handler !== undefined && isThread(node.callee.object, source)
    ? [handledBy(handler, { ...anybodys, start: node.start })]
    : [];
}

/** By what it was made from, or by its type; `worker.on(…).on(…)` is the worker still. */
function isThread(node: unknown, source: Source): boolean {
  if (isType(node, "CallExpression"))
    return isType(node.callee, "MemberExpression")
      ? isThread(node.callee.object, source)
      : isThread(source.functions.get(nameOf(node.callee) ?? "")?.returnType, source);
  if (isType(node, "NewExpression")) return nameOf(node.callee) === "Worker";
  if (!isType(node, "Identifier"))
    return below(node).some((one) => isType(one, "TSTypeReference") && nameOf(one.typeName) === "Worker");
  const { made, type, initial } = declarationOf(nameOf(node) ?? "", node.start, source);
  return [type, made, initial].some((one) => isThread(one, source));
}

function handledBy(handler: Tree, guarded: Tree): Pick<Caught, "guarded" | "handler" | "error"> {
  const [param] = listOf(handler.params);
  return { guarded, handler: isTree(handler.body) ? handler.body : handler, error: nameOf(param) };
}

const anybodys = { type: "ArrayExpression", elements: [{ type: "ThisExpression", start: 0 }] };
