import type { parseSync } from "oxc-parser";

type Program = ReturnType<typeof parseSync>["program"];

/** Most files have nothing of it, and then the costly tree is not asked for. */
export const mayHaveState = /^(?:export )?(?:let|var)\b|=\s+(?:new (?:Weak)?(?:Map|Set)\b|\[\]|\{\})/m;

/**
 * Names of a whole file that can be given another value, or that can only be of use if something is put into them: an
 * empty map, set, list or object, whatever it is called by its type. A type that begins with "readonly" lets nobody put
 * anything in.
 */
export function stateOf(program: Program): string[] {
  return program.body.flatMap((statement) => {
    const declared = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    if (declared?.type !== "VariableDeclaration" || declared.declare) return [];
    return declared.declarations.flatMap(({ id, init }) => {
      if (id.type !== "Identifier") return [];
      const isState = declared.kind !== "const" || (isEmpty(init) && !isReadonly(id.typeAnnotation?.typeAnnotation));
      return isState ? [id.name] : [];
    });
  });
}

function isEmpty(value: unknown): boolean {
  if (!isTree(value)) return false;
  // `[] as string[]`, `{} satisfies Cache`.
  if (/^TS\w+Expression$/.test(value.type)) return isEmpty(value.expression);
  if (value.type === "ArrayExpression") return listOf(value.elements).length === 0;
  if (value.type === "ObjectExpression") return listOf(value.properties).length === 0;
  if (value.type !== "NewExpression" || listOf(value.arguments).length > 0) return false;
  return isTree(value.callee) && /^(?:Weak)?(?:Map|Set)$/.test(String(value.callee.name));
}

function isReadonly(type: unknown): boolean {
  if (!isTree(type)) return false;
  if (type.type === "TSTypeOperator") return type.operator === "readonly";
  return isTree(type.typeName) && /^Readonly/.test(String(type.typeName.name));
}

type Tree = { readonly type: string; readonly [field: string]: unknown };

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
