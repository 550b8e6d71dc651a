// Syntax trees of test files, and what their names stand for.

export type Tree = { readonly type: string; readonly [field: string]: unknown };
/** What a name stands for, and where that was written. */
export type Named = { readonly tree: Tree; readonly scope: Scope };
export type Scope = {
  readonly file: string;
  /** Undefined: the name is taken here, by something that only a run would know. */
  readonly names: ReadonlyMap<string, Named | undefined>;
  readonly outer: Scope | undefined;
};

/** Goes through all trees below, each with the names that are known there. `see` may answer which ones to go on with. */
export function walk(tree: Tree, scope: Scope, see: (tree: Tree, scope: Scope) => readonly Tree[] | undefined): void {
  // What stands in types is no value; a value that is given a type is one still.
  if (/^TS(?!\w+Expression$)/.test(tree.type)) return;
  const chosen = see(tree, scope);
  const inside = insideOf(tree, scope);
  for (const inner of chosen ?? Object.values(tree).flatMap(treesIn)) walk(inner, inside, see);
}

export function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

/** One tree, or a list of them. */
export function treesIn(value: unknown): Tree[] {
  if (Array.isArray(value)) return value.filter(isTree);
  return isTree(value) ? [value] : [];
}

export function isFunction(tree: Tree): boolean {
  return tree.type === "FunctionDeclaration" || /^(?:Arrow)?FunctionExpression$/.test(tree.type);
}

/** The name of a variable, or of a member: `equal` of `assert.equal`. */
export function nameOf(tree: unknown): string {
  if (!isTree(tree)) return "";
  return tree.type === "MemberExpression" ? nameOf(tree.property) : String(tree.name ?? "");
}

/** All names that a parameter or a declaration gives. */
export function namesIn(pattern: Tree): string[] {
  if (pattern.type === "Identifier") return [String(pattern.name)];
  if (pattern.type === "Property") return treesIn(pattern.value).flatMap(namesIn);
  if (pattern.type === "AssignmentPattern") return treesIn(pattern.left).flatMap(namesIn);
  return ["elements", "properties", "argument"].flatMap((field) => treesIn(pattern[field]).flatMap(namesIn));
}

/** A file, with what stands at its top. */
export function scopeOfFile(file: string, program: Tree): Scope {
  return declare(program, { file, names: new Map(), outer: undefined });
}

const known = new WeakMap<Tree, Scope>();

function insideOf(tree: Tree, outer: Scope): Scope {
  if (tree.type === "CallExpression") declareEach(tree, outer);
  if (!isFunction(tree) && !/^(?:BlockStatement|ForOfStatement)$/.test(tree.type)) return outer;
  const scope = known.get(tree) ?? declare(tree, outer);
  known.set(tree, scope);
  return scope;
}

/** In `cases.map(([path, code]) => …)` the parameters stand for what is in the cases. */
function declareEach({ callee, arguments: given }: Tree, outer: Scope): void {
  if (!isTree(callee) || !isTree(callee.object) || !/^(?:map|flatMap|forEach|filter|some|every)$/.test(nameOf(callee)))
    return;
  const cases = { tree: callee.object, scope: outer };
  for (const each of treesIn(given).filter(isFunction))
    if (!known.has(each)) {
      const [one, ...others] = treesIn(each.params);
      const names = new Map<string, Named | undefined>(others.flatMap(namesIn).map((name) => [name, undefined]));
      for (const name of one === undefined ? [] : namesIn(one)) names.set(name, cases);
      known.set(each, { file: outer.file, names, outer });
    }
}

function declare(tree: Tree, outer: Scope): Scope {
  const names = new Map<string, Named | undefined>();
  const scope: Scope = { file: outer.file, names, outer };
  const give = (pattern: unknown, value?: unknown, where = scope) => {
    for (const name of treesIn(pattern).flatMap(namesIn))
      names.set(name, isTree(value) ? { tree: value, scope: where } : undefined);
  };
  if (isFunction(tree)) for (const param of treesIn(tree.params)) give(param);
  else if (tree.type === "ForOfStatement")
    for (const left of treesIn(tree.left)) for (const { id } of treesIn(left.declarations)) give(id, tree.right, outer);
  else
    for (const statement of treesIn(tree.body)) {
      const declaration = isTree(statement.declaration) ? statement.declaration : statement;
      if (declaration.type === "FunctionDeclaration") give(declaration.id, declaration);
      if (declaration.type === "ImportDeclaration")
        for (const { local } of treesIn(declaration.specifiers)) give(local, declaration);
      for (const { id, init } of treesIn(declaration.declarations)) give(id, init);
    }
  return scope;
}
