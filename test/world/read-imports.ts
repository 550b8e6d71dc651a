import { parseSync, type StaticImport, Visitor, type VisitorObject } from "oxc-parser";
import { mayHaveState, stateOf } from "./read-state.ts";

/** Whatever a file takes from elsewhere, in any spelling; and what else the house asks its syntax. */
export type Syntax = {
  readonly imports: readonly Import[];
  /** `import(name)`, of which nobody can say from where. */
  readonly hasComputedImport: boolean;
  /** `export * from` of values. */
  readonly hasValueStar: boolean;
  readonly hasDefaultExport: boolean;
  /** `mock.module(…)`, and `mock.method(…)` of anything but the console; also a `mock` under another name, which nobody follows. */
  readonly mocksModules: boolean;
  /** Names of classes, types and functions that are to be avoided. */
  readonly avoidedNames: readonly string[];
  /** `process.getBuiltinModule` and its like. */
  readonly waysAround: readonly string[];
  /** What Node gives to everybody and browsers do not have: `process`, `Buffer`. */
  readonly namesOfNode: readonly string[];
  /** The beginnings of statements in SQL. */
  readonly sql: readonly string[];
  /** Outside of comments. */
  readonly hasChinese: boolean;
  /** Names of a whole file that can be given another value, or that can only be of use if something is put into them. */
  readonly state: readonly string[];
};

export type Import = {
  readonly specifier: string;
  /** `type`: gone when it runs. `later`: loaded by a call, a thread or `require`, when the file that names it already stands. */
  readonly kind: "value" | "type" | "later";
};

const aroundImports = /^(?:getBuiltinModule|binding|_linkedBinding|dlopen)$/;
const ofNode = /\b(?:process|Buffer|global|require|__dirname|__filename|setImmediate|clearImmediate)\b/;
const beginsSql =
  /^\s*(?:select\s.*\sfrom|insert\s+(?:or\s+\w+\s+)?into|update\s+\w+\s+set|delete\s+from|(?:create|alter|drop)\s+(?:table|index|view|trigger)|pragma|with\s+(?:recursive\s+)?\w+\s*(?:\([^)]*\)\s*)?as)\s/is;

/** Most files have nothing of it, and then the costly tree is not asked for. */
const needsTree = new RegExp(
  [
    /\bimport\s*\(|\bimport\.meta(?:\.resolve|\s*\[)|\brequire\b|\bcreateRequire\b|\bmock\b|\bnew (?:\w+\.)?URL\b|\bWorker\b/,
    /\b(?:getBuiltinModule|binding|_linkedBinding|dlopen)\b/,
    /["'`]\s*(?:[sS]elect|SELECT|[iI]nsert|INSERT|[uU]pdate|UPDATE|[dD]elete|DELETE|[cC]reate|CREATE|[aA]lter|ALTER|[dD]rop|DROP|[pP]ragma|PRAGMA|[wW]ith|WITH)\s/,
  ]
    .map(({ source }) => source)
    .join("|"),
);

export type Asking = {
  /** Names that are to be avoided. */
  readonly avoided: RegExp;
  /** Otherwise nobody wants to know what of Node it uses. */
  readonly isForBrowsers: boolean;
};

export function readSyntax(path: string, text: string, { avoided, isForBrowsers }: Asking): Syntax {
  const parsed = parseSync(path, text);
  const { staticImports, staticExports } = parsed.module;
  const exported = staticExports.flatMap(({ entries }) => entries);
  const imports: Import[] = [
    ...staticImports.map(({ moduleRequest, entries }) => ({
      specifier: moduleRequest.value,
      kind: entries.length > 0 && entries.every(({ isType }) => isType) ? ("type" as const) : ("value" as const),
    })),
    ...exported.flatMap(({ moduleRequest, isType }) =>
      moduleRequest === null
        ? []
        : [{ specifier: moduleRequest.value, kind: isType ? ("type" as const) : ("value" as const) }],
    ),
  ];
  const isAsked = needsTree.test(text) || declaresOneOf(text, avoided) || (isForBrowsers && ofNode.test(text));
  const asked = isAsked ? visit(parsed.program, avoided) : nothing;
  return {
    ...asked,
    imports: [...imports, ...asked.imports],
    hasComputedImport:
      asked.hasComputedImport || staticImports.some((one) => isRenamed(one, /^(?:createRequire|Worker)$/)),
    mocksModules: asked.mocksModules || staticImports.some((one) => isRenamed(one, /^mock$/)),
    hasChinese: text.matchAll(/\p{Script=Han}/gu).some(({ index }) => !isInside(index, parsed.comments)),
    state: mayHaveState.test(text) ? stateOf(parsed.program) : [],
    hasValueStar: exported.some(({ importName, isType }) => importName.kind.startsWith("All") && !isType),
    hasDefaultExport: exported.some(({ exportName }) => exportName.kind === "Default" || exportName.name === "default"),
  };
}

type Asked = Omit<Syntax, "hasChinese" | "state" | "hasValueStar" | "hasDefaultExport">;
const nothing: Asked = {
  ...{ imports: [], hasComputedImport: false, mocksModules: false },
  ...{ avoidedNames: [], waysAround: [], namesOfNode: [], sql: [] },
};
type Program = ReturnType<typeof parseSync>["program"];

function visit(program: Program, avoided: RegExp): Asked {
  const found: Found = {
    ...{ imports: [], hasComputedImport: false, mocksModules: false },
    ...{ avoidedNames: new Set(), waysAround: new Set(), namesOfNode: new Set(), sql: new Set() },
  };
  new Visitor({ ...loads(found), ...names(found), ...declarations(found, avoided) }).visit(program);
  new Visitor(keptLoaders(found)).visit(program);
  const { avoidedNames, waysAround, namesOfNode, sql } = found;
  const lists = { avoidedNames: [...avoidedNames], waysAround: [...waysAround], namesOfNode: [...namesOfNode] };
  return { ...found, ...lists, sql: [...sql] };
}

type Found = {
  imports: Import[];
  hasComputedImport: boolean;
  mocksModules: boolean;
} & Record<"avoidedNames" | "waysAround" | "namesOfNode" | "sql", Set<string>>;

/** Whatever brings in another file when it runs. */
function loads(found: Found): VisitorObject {
  const later = (source: unknown) => {
    const specifier = constant(source);
    if (specifier === undefined) found.hasComputedImport = true;
    else found.imports.push({ specifier, kind: "later" });
  };
  return {
    ImportExpression: ({ source }) => later(source),
    TSImportType({ source }) {
      found.imports.push({ specifier: source.value, kind: "type" });
    },
    TSImportEqualsDeclaration({ moduleReference, importKind }) {
      if (moduleReference.type !== "TSExternalModuleReference") return;
      found.imports.push({ specifier: moduleReference.expression.value, kind: importKind });
    },
    CallExpression({ callee, arguments: [first] }) {
      const isMember = callee.type === "MemberExpression";
      const mocked = isMember && nameOf(callee.object) === "mock" ? nameOf(callee) : undefined;
      const isOfOurs = /^(?:method|getter|setter|property)$/.test(mocked ?? "") && nameOf(first) !== "console";
      if (mocked === "module" || isOfOurs) found.mocksModules = true;
      const maker = callee.type === "CallExpression" ? nameOf(callee.callee) : nameOf(callee);
      const isResolved = isMember && callee.object.type === "MetaProperty" && maker === "resolve";
      // `createRequire(import.meta.url)` itself names nothing; what it makes is called at once, or kept as `require`.
      const isRequired = maker === "require" || (maker === "createRequire" && callee.type === "CallExpression");
      if (isResolved || isRequired) later(first);
    },
    NewExpression({ callee, arguments: [first] }) {
      const name = nameOf(callee);
      const specifier = name === "URL" ? constant(first) : undefined;
      if (specifier?.startsWith(".") && /\.[cm]?[jt]s$/.test(specifier)) later(first);
      if (name !== "Worker") return;
      if (first?.type !== "NewExpression") later(first);
      // An address that is written out is looked at by itself. A program that is written out has none.
      else if (nameOf(first.callee) !== "URL" || (constant(first.arguments[0]) ?? beginningOf(first)) === undefined)
        found.hasComputedImport = true;
    },
  };
}

/** `data:` of an address that is written out in part: what follows is a program, and no file. */
function beginningOf({ arguments: [first] }: { readonly arguments: readonly unknown[] }): string | undefined {
  if (typeof first !== "object" || first === null || !("quasis" in first) || !Array.isArray(first.quasis))
    return undefined;
  return /^data:/.exec(first.quasis[0].value.cooked)?.[0];
}

/** What loads by a name of our own choosing is followed nowhere: it keeps its name, and is called. */
function keptLoaders(found: Found): VisitorObject {
  const known = new Set<number>();
  const know = (...nodes: readonly { readonly start: number }[]) => {
    for (const { start } of nodes) known.add(start);
  };
  return {
    ImportSpecifier: ({ imported, local }) => know(imported, local),
    CallExpression: ({ callee }) => know(callee.type === "MemberExpression" ? callee.property : callee),
    NewExpression: ({ callee }) => know(callee.type === "MemberExpression" ? callee.property : callee),
    // A type, and the question whether something is one.
    TSTypeReference: ({ typeName }) => know(typeName.type === "TSQualifiedName" ? typeName.right : typeName),
    BinaryExpression: ({ operator, right }) => (operator === "instanceof" ? know(right) : undefined),
    VariableDeclarator({ id, init }) {
      if (nameOf(init) === "mock") found.mocksModules = true;
      const isMade = init?.type === "CallExpression" && nameOf(init.callee) === "createRequire";
      if (!isMade) return;
      if (nameOf(id) === "require") know(id);
      else found.hasComputedImport = true;
    },
    // Names of fields that are written; in a pattern they take something out.
    ObjectExpression({ properties }) {
      for (const one of properties) if (one.type === "Property" && !one.computed && !one.shorthand) know(one.key);
    },
    TSPropertySignature: ({ key, computed }) => (computed ? undefined : know(key)),
    Identifier({ name, start }) {
      if (/^(?:require|createRequire|Worker)$/.test(name) && !known.has(start)) found.hasComputedImport = true;
    },
  };
}

/** `import { createRequire as load }`: from there on nobody knows it again. */
function isRenamed({ entries }: StaticImport, known: RegExp): boolean {
  return entries.some(
    ({ importName, localName }) => known.test(importName.name ?? "") && localName.value !== importName.name,
  );
}

/** What is named without having been imported. */
function names(found: Found): VisitorObject {
  // Names of fields, which are no names of anything outside.
  const fields = new Set<number>();
  const field = (node: { readonly computed: boolean; readonly key: { readonly start: number } }) => {
    if (!node.computed) fields.add(node.key.start);
  };
  return {
    MemberExpression({ object, property, computed }) {
      if (!computed) fields.add(property.start);
      const name = computed ? constant(property) : nameOf(property);
      if (name !== undefined && aroundImports.test(name) && nameOf(object) === "process") found.waysAround.add(name);
    },
    Property: field,
    PropertyDefinition: field,
    MethodDefinition: field,
    TSPropertySignature: field,
    TSMethodSignature: field,
    Identifier({ name, start }) {
      // Also one that is taken out of `process` first.
      if (name !== "binding" && aroundImports.test(name)) found.waysAround.add(name);
      if (ofNode.exec(name)?.[0] === name && !fields.has(start)) found.namesOfNode.add(name);
    },
  };
}

/** What is written down here: names of our own, and statements for a database. */
function declarations(found: Found, avoided: RegExp): VisitorObject {
  const named = ({ id }: { readonly id: { readonly name: string } | null }) => {
    if (id !== null && avoided.test(id.name)) found.avoidedNames.add(id.name);
  };
  const text = (value: string) => {
    const [statement] = beginsSql.exec(value) ?? [];
    if (statement !== undefined) found.sql.add(statement.trim());
  };
  return {
    Literal({ value }) {
      if (typeof value === "string") text(value);
    },
    TemplateLiteral: ({ quasis }) => text(quasis.map(({ value }) => value.cooked ?? "").join("x")),
    VariableDeclarator({ id, init }) {
      if (id.type === "Identifier" && init?.type === "ArrowFunctionExpression") named({ id });
    },
    FunctionDeclaration: named,
    ClassDeclaration: named,
    ClassExpression: named,
    TSInterfaceDeclaration: named,
    TSTypeAliasDeclaration: named,
  };
}

function declaresOneOf(text: string, avoided: RegExp): boolean {
  return text.matchAll(/\b(?:class|interface|type|function|const) (\w+)/g).some(([, name = ""]) => avoided.test(name));
}

function isInside(index: number, spans: readonly { readonly start: number; readonly end: number }[]): boolean {
  return spans.some(({ start, end }) => start <= index && index < end);
}

/** A text that is written out, in whatever quotes. */
function constant(node: unknown): string | undefined {
  if (typeof node !== "object" || node === null || !("type" in node)) return undefined;
  if (node.type === "Literal" && "value" in node && typeof node.value === "string") return node.value;
  if (node.type !== "TemplateLiteral" || !("quasis" in node) || !Array.isArray(node.quasis)) return undefined;
  return node.quasis.length === 1 ? node.quasis[0].value.cooked : undefined;
}

/** `require`, the `mock` of `t.mock`, and the `resolve` of `import.meta["resolve"]`. */
function nameOf(node: unknown): string | undefined {
  if (typeof node !== "object" || node === null) return undefined;
  if ("property" in node) return nameOf(node.property) ?? constant(node.property);
  return "name" in node && typeof node.name === "string" ? node.name : undefined;
}
