import { z } from "zod";

const depthMax = 6;
const variantsMax = 12;

/** As much of JSON Schema as zod writes. */
const Schema = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  $ref: z.string().optional(),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  allOf: z.array(z.unknown()).optional(),
  items: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  additionalProperties: z.unknown().optional(),
});

/** A JSON schema as a programmer would write the type down. */
export function schemaText(schema: unknown, schemas: Readonly<Record<string, unknown>>, depth = 0): string {
  const parsed = Schema.safeParse(schema);
  if (!parsed.success || depth > depthMax) return "…";
  const { $ref, anyOf, oneOf, allOf, items, properties, additionalProperties, type } = parsed.data;
  const inner = (of: unknown) => schemaText(of, schemas, depth + 1);
  if ($ref !== undefined) return schemaText(schemas[$ref.split("/").at(-1) ?? ""], schemas, depth + 1);
  if ("const" in parsed.data) return JSON.stringify(parsed.data.const);
  if (parsed.data.enum !== undefined) return parsed.data.enum.map((value) => JSON.stringify(value)).join(" | ");
  const variants = anyOf ?? oneOf;
  if (variants !== undefined) {
    const shown = variants.slice(0, variantsMax).map(inner);
    return [...shown, ...(variants.length > variantsMax ? ["…"] : [])].join(" | ");
  }
  if (allOf !== undefined) return allOf.map(inner).join(" & ");
  if (type === "array") return `[${items === undefined ? "…" : inner(items)}]`;
  if (properties !== undefined) return objectText(properties, parsed.data.required ?? [], { inner, depth });
  if (type === "object")
    return additionalProperties === undefined ? "{ … }" : `{ [name]: ${inner(additionalProperties)} }`;
  return Array.isArray(type) ? type.join(" | ") : (type ?? "any");
}

function objectText(
  properties: Readonly<Record<string, unknown>>,
  required: readonly string[],
  { inner, depth }: { readonly inner: (of: unknown) => string; readonly depth: number },
): string {
  const pad = "  ".repeat(depth + 1);
  const lines = Object.entries(properties).map(
    ([name, of]) => `${pad}${name}${required.includes(name) ? "" : "?"}: ${inner(of)}`,
  );
  return lines.length === 0 ? "{ … }" : `{\n${lines.join("\n")}\n${"  ".repeat(depth)}}`;
}
