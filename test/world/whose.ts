import { parseSync } from "oxc-parser";

// Whose code a value comes from: ours, or that of others (the platform, Node, packages; and `base/`, which is as plain).
// Read from the text of one file, by what its names were declared as. What the text does not tell counts as ours.

export type Tree = { readonly type: string; readonly start: number; readonly [field: string]: unknown };

export type Source = {
  readonly path: string;
  readonly text: string;
  readonly program: Tree;
  /** Where names come from that were imported. */
  readonly imports: ReadonlyMap<string, string>;
  readonly functions: ReadonlyMap<string, Tree>;
  readonly declared: ReadonlyMap<string, readonly Declared[]>;
  readonly types: ReadonlyMap<string, Tree>;
  /** The types of packages that we make values of ourselves (`typesMadeOf`): who has one may have ours. */
  readonly made: ReadonlySet<string>;
};

/**
 * A name inside the function from `from` to `to`, with what it was made from, or else what type it was given, or what it is
 * where nothing else is handed in.
 */
type Declared = {
  readonly from: number;
  readonly to: number;
  readonly made?: unknown;
  readonly type?: unknown;
  readonly initial?: unknown;
};

export function readSource(path: string, text: string, made: ReadonlySet<string> = new Set()): Source {
  const parsed = parseSync(path, text);
  const program: unknown = parsed.program;
  if (!isTree(program)) throw new Error(`${path} cannot be read`);
  const imports = new Map<string, string>();
  for (const { moduleRequest, entries } of parsed.module.staticImports)
    for (const { localName } of entries) imports.set(localName.value, moduleRequest.value);
  const [functions, types] = [new Map<string, Tree>(), new Map<string, Tree>()];
  const declared = new Map<string, Declared[]>();
  const note = (pattern: unknown, inside: Tree, rest: Pick<Declared, "made" | "type" | "initial">) => {
    for (const { name } of namesIn(pattern))
      declared.set(name, [...(declared.get(name) ?? []), { from: inside.start, to: endOf(inside), ...rest }]);
  };
  const walk = (node: Tree, inside: Tree) => {
    const own = isFunction(node) ? node : inside;
    for (const param of listOf(node.params)) note(param, own, { type: typeOf(param), initial: field(param, "right") });
    for (const [given, made] of handedTo(node)) for (const param of listOf(given.params)) note(param, given, { made });
    if (isType(node.param, "Identifier")) note(node.param, own, { made: plain }); // What was caught is looked at only.
    if (node.type === "VariableDeclarator") {
      const made = node.init ?? undefined;
      note(node.id, inside, { made, type: typeOf(node.id) });
      if (isFunction(made)) functions.set(nameOf(node.id) ?? "", made);
    }
    if (node.type === "ForOfStatement") note(listOf(field(node.left, "declarations"))[0], inside, { made: node.right });
    if (node.type === "FunctionDeclaration") functions.set(nameOf(node.id) ?? "", node);
    if (/^TS(?:TypeAlias|Interface)Declaration$/.test(node.type)) types.set(nameOf(node.id) ?? "", node);
    for (const child of childrenOf(node)) walk(child, own);
  };
  walk(program, program);
  return { path, text, program, imports, functions, declared, types, made };
}

/** `class Own implements Transport`, `type Own = Transport & { … }`: a transport need not be that of its package. */
export function typesMadeOf({ program, imports }: Source): string[] {
  return below(program).flatMap((node) => {
    const parts = node.type === "TSIntersectionType" ? listOf(node.types) : listOf(node.implements);
    return parts.flatMap((one) => {
      const name = nameOf(field(one, "typeName")) ?? nameOf(field(one, "expression")) ?? "";
      const from = imports.get(name);
      return from === undefined || /^(?:\.|node:)/.test(from) ? [] : [`${from}#${name}`];
    });
  });
}

/** A value of a type that a package gave, and that we make, too. */
export function isMadeByUs(node: unknown, source: Source): boolean {
  const { type } = declarationOf(nameOf(node) ?? "", isTree(node) ? node.start : 0, source);
  return below(type).some((one) => isMadeType(nameOf(one.typeName) ?? "", source));
}

function isMadeType(name: string, { imports, made }: Source): boolean {
  return made.has(`${imports.get(name)}#${name}`);
}

/** What a call hands to a function that it is given comes from whom the call is, or from what else it is given. */
function handedTo(node: Tree): [given: Tree, made: Tree][] {
  if (!/^(?:Call|New)Expression$/.test(node.type)) return [];
  const given = listOf(node.arguments);
  const elements = [field(node.callee, "object") ?? node.callee, ...given.filter((one) => !isFunction(one))];
  return given.filter(isFunction).map((one) => [one, { type: "ArrayExpression", start: node.start, elements }]);
}

const plain = { type: "Literal", start: 0 };

/** Whether an expression is a value of ours. */
export function isOurs(node: unknown, source: Source, depth = 16): boolean {
  if (!isTree(node) || depth === 0) return true;
  const inner = (one: unknown) => isOurs(one, source, depth - 1);
  if (isFunction(node) || /^(?:Literal|TemplateLiteral|MetaProperty)$/.test(node.type)) return false;
  switch (node.type) {
    case "Identifier":
      return isOurName(nameOf(node) ?? "", node.start, source, depth);
    case "ArrayExpression":
      return listOf(node.elements).some(inner);
    case "ImportExpression":
      return String(field(node.source, "value")).startsWith(".");
    case "ObjectExpression":
      return listOf(node.properties).some((one) => isType(one, "SpreadElement") && inner(one.argument));
    case "AwaitExpression":
    case "UnaryExpression":
    case "SpreadElement":
      return inner(node.argument);
    case "MemberExpression":
      return inner(node.object);
    case "CallExpression":
    case "NewExpression": {
      // A map of promises is as much ours as they are.
      if (isTree(node.typeArguments) && isOurType(node.typeArguments, source, depth)) return true;
      // Written out and called at once; and pieces of ours that a stream of Node is made of.
      if (isFunction(node.callee)) return true;
      if (nameOf(field(node.callee, "object")) === "Readable" && listOf(node.arguments).some(inner)) return true;
      const answer = answerOf(source.functions.get(nameOf(node.callee) ?? ""));
      return answer === undefined ? inner(node.callee) : inner(answer);
    }
    case "ConditionalExpression":
      return inner(node.consequent) || inner(node.alternate);
    case "LogicalExpression":
    case "BinaryExpression":
      return inner(node.left) || inner(node.right);
    default:
      return isTree(node.expression) ? inner(node.expression) : true;
  }
}

/** What a function answers that does nothing else. */
function answerOf(made: Tree | undefined): Tree | undefined {
  const [only, ...others] = isType(made?.body, "BlockStatement") ? listOf(made.body.body) : [made?.body];
  const answer = isType(only, "ReturnStatement") ? only.argument : only;
  return others.length === 0 && isTree(answer) && !answer.type.endsWith("Statement") ? answer : undefined;
}

function isOurName(name: string, at: number, source: Source, depth: number): boolean {
  if (name === "undefined") return false;
  const { isDeclared, made, type } = declarationOf(name, at, source);
  if (type !== undefined) return isOurType(type, source, depth);
  if (made !== undefined) return isOurs(made, source, depth - 1);
  return isDeclared || source.functions.has(name) || isOurImport(name, source);
}

/** What is known of a name at a place: the innermost function that declares it counts. */
export function declarationOf(name: string, at: number, { declared }: Source) {
  const near = (declared.get(name) ?? []).filter(({ from, to }) => from <= at && at < to);
  const from = Math.max(...near.map((one) => one.from));
  const nearest = near.filter((one) => one.from === from);
  const type = nearest.find((one) => one.type !== undefined)?.type;
  const initial = nearest.find((one) => one.initial !== undefined)?.initial;
  return { isDeclared: near.length > 0, type, made: nearest.find(({ made }) => made !== undefined)?.made, initial };
}

export function isOurImport(name: string, { imports }: Source): boolean {
  const from = imports.get(name);
  return from?.startsWith(".") === true && !from.includes("/base/");
}

/** A type of ours, a function or a promise that was handed in, or whatever else says nothing about whose it is. */
function isOurType(type: unknown, source: Source, depth: number): boolean {
  if (depth === 0) return true;
  return below(type).some((node) => {
    if (/^TS(?:Function|Unknown|Any|ConstructorType|MethodSignature|TypeQuery)/.test(node.type)) return true;
    if (node.type !== "TSTypeReference") return false;
    const name = nameOf(node.typeName) ?? nameOf(field(node.typeName, "left")) ?? "";
    if (/^(?:Promise|PromiseLike|(?:Async)?(?:Generator|Iterable|Iterator|IterableIterator))$/.test(name)) return true;
    const own = source.types.get(name);
    return own === undefined
      ? isOurImport(name, source) || isMadeType(name, source)
      : isOurType(listOf(own.body ?? own.typeAnnotation), source, depth - 1);
  });
}

function typeOf(pattern: unknown): unknown {
  const annotated = isType(pattern, "AssignmentPattern") ? pattern.left : pattern;
  return field(field(annotated, "typeAnnotation"), "typeAnnotation");
}

/** The names that a pattern gives, without those in its types and defaults. */
function namesIn(pattern: unknown): { readonly name: string }[] {
  if (!isTree(pattern)) return [];
  if (pattern.type === "Identifier") return [{ name: nameOf(pattern) ?? "" }];
  const parts = [pattern.left, pattern.argument, pattern.value, pattern.id, pattern.parameter];
  return [...parts, ...listOf(pattern.properties), ...listOf(pattern.elements)].flatMap(namesIn);
}

export function isFunction(node: unknown): node is Tree & { readonly params: unknown } {
  return isTree(node) && /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type);
}

/** A node and everything in it. */
export function below(value: unknown): Tree[] {
  if (Array.isArray(value)) return value.flatMap(below);
  return isTree(value) ? [value, ...childrenOf(value).flatMap(below)] : [];
}

export function childrenOf(node: Tree): Tree[] {
  return Object.values(node).flatMap(listOf).filter(isTree);
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

export function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

export function isType(value: unknown, type: string): value is Tree {
  return isTree(value) && value.type === type;
}

export function nameOf(node: unknown): string | undefined {
  return isTree(node) && typeof node.name === "string" ? node.name : undefined;
}

function field(node: unknown, name: string): unknown {
  return isTree(node) ? node[name] : undefined;
}

function endOf(node: Tree): number {
  return Number(node.end);
}
