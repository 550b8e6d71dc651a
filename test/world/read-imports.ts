import { parseSync, Visitor } from "oxc-parser";

/** Whatever a file takes from elsewhere, in any spelling; and what else the house asks its syntax. */
export type Syntax = {
  readonly imports: readonly Import[];
  /** `import(name)`, of which nobody can say from where. */
  readonly hasComputedImport: boolean;
  /** `export * from` of values. */
  readonly hasValueStar: boolean;
  readonly hasDefaultExport: boolean;
  /** `mock.module(…)`. */
  readonly mocksModules: boolean;
  /** Names of classes and types that are to be avoided. */
  readonly avoidedNames: readonly string[];
};

export type Import = {
  readonly specifier: string;
  /** `type`: gone when it runs. `later`: loaded by a call, a thread or `require`, when the file that names it already stands. */
  readonly kind: "value" | "type" | "later";
};

/** Most files have nothing of it, and then the costly tree is not asked for. */
const needsTree = /\bimport\s*\(|\brequire\b|\bcreateRequire\b|\bmock\b|\bnew URL\(/;

export function readSyntax(path: string, text: string, avoided: RegExp): Syntax {
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
  const found = { imports, hasComputedImport: false, mocksModules: false, avoidedNames: [] as string[] };
  if (needsTree.test(text) || declaresOneOf(text, avoided)) visit(parsed.program, found, avoided);
  return {
    ...found,
    hasValueStar: exported.some(({ importName, isType }) => importName.kind.startsWith("All") && !isType),
    hasDefaultExport: exported.some(({ exportName }) => exportName.kind === "Default" || exportName.name === "default"),
  };
}

type Found = { imports: Import[]; hasComputedImport: boolean; mocksModules: boolean; avoidedNames: string[] };
type Program = ReturnType<typeof parseSync>["program"];

function visit(program: Program, found: Found, avoided: RegExp): void {
  const later = (specifier: string) => found.imports.push({ specifier, kind: "later" });
  const named = ({ id }: { readonly id: { readonly name: string } | null }) => {
    if (id !== null && avoided.test(id.name)) found.avoidedNames.push(id.name);
  };
  new Visitor({
    ImportExpression({ source }) {
      const specifier = constant(source);
      if (specifier === undefined) found.hasComputedImport = true;
      else later(specifier);
    },
    TSImportType({ source }) {
      found.imports.push({ specifier: source.value, kind: "type" });
    },
    CallExpression({ callee, arguments: [first] }) {
      const isMember = callee.type === "MemberExpression";
      if (isMember && nameOf(callee.property) === "module" && nameOf(callee.object) === "mock")
        found.mocksModules = true;
      const maker = callee.type === "CallExpression" ? nameOf(callee.callee) : nameOf(callee);
      const specifier = maker === "require" || maker === "createRequire" ? constant(first) : undefined;
      // `createRequire(import.meta.url)` itself names nothing.
      if (specifier !== undefined) later(specifier);
    },
    NewExpression({ callee, arguments: [first] }) {
      const specifier = nameOf(callee) === "URL" ? constant(first) : undefined;
      if (specifier?.startsWith(".") && /\.[cm]?[jt]s$/.test(specifier)) later(specifier);
    },
    ClassDeclaration: named,
    ClassExpression: named,
    TSInterfaceDeclaration: named,
    TSTypeAliasDeclaration: named,
  }).visit(program);
}

function declaresOneOf(text: string, avoided: RegExp): boolean {
  return text.matchAll(/\b(?:class|interface|type) (\w+)/g).some(([, name = ""]) => avoided.test(name));
}

/** A text that is written out, in whatever quotes. */
function constant(node: unknown): string | undefined {
  if (typeof node !== "object" || node === null || !("type" in node)) return undefined;
  if (node.type === "Literal" && "value" in node && typeof node.value === "string") return node.value;
  if (node.type !== "TemplateLiteral" || !("quasis" in node) || !Array.isArray(node.quasis)) return undefined;
  return node.quasis.length === 1 ? node.quasis[0].value.cooked : undefined;
}

/** `require`, and the `mock` of `t.mock`. */
function nameOf(node: unknown): string | undefined {
  if (typeof node !== "object" || node === null) return undefined;
  if ("property" in node) return nameOf(node.property);
  return "name" in node && typeof node.name === "string" ? node.name : undefined;
}
