import { z } from "zod";
import { Problem } from "../protocol/resources.ts";
import type { Dialect } from "../protocol/route.ts";

export type Json = Readonly<Record<string, unknown>>;

/** The schemas of one document. */
export type Schemas = {
  readonly all: Readonly<Record<string, unknown>>;
  /** The schema for a place in the document; what it refers to goes into the document's own list. */
  take(name: string, schema: z.ZodType): Json;
  /** The same as a reference to the document's own list: for what several paths have. */
  share(name: string, schema: z.ZodType): Json;
};

export function openSchemas(first: Readonly<Record<string, z.ZodType>>): Schemas {
  const all: Record<string, unknown> = {};

  function take(name: string, schema: z.ZodType): Json {
    // As input, so that objects stay open: a later version may add a field.
    const { $schema: _, $defs = {}, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
    const at = (place: string) =>
      place === "#" ? `#/components/schemas/${name}` : `#/components/schemas/${name}.${place.replace("#/$defs/", "")}`;
    for (const [inner, definition] of Object.entries($defs)) all[`${name}.${inner}`] = moved(definition, at);
    const root = moved(rest, at);
    if (JSON.stringify(root).includes(`"$ref":"${at("#")}"`)) {
      all[name] = root;
      return { $ref: at("#") };
    }
    return isRecord(root) ? root : {};
  }

  function share(name: string, schema: z.ZodType): Json {
    if (!Object.hasOwn(all, name)) {
      const taken = take(name, schema);
      // One that refers to itself is there by now.
      if (!Object.hasOwn(all, name)) all[name] = taken;
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  for (const [name, schema] of Object.entries(first)) share(name, schema);
  return { all, take, share };
}

/** A schema whose references lead to where their targets are now. */
function moved(value: unknown, at: (place: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => moved(item, at));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === "$ref" && typeof inner === "string" ? at(inner) : moved(inner, at),
    ]),
  );
}

function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** How a failure looks in each dialect. */
export const errorSchemas = {
  Problem,
  ChatProblem: z.object({
    error_code: z.string(),
    description: z.string(),
    solution: z.string(),
    error_link: z.string(),
    error_details: z.object({ code: z.string(), params: z.record(z.string(), z.unknown()), request_id: z.string() }),
  }),
  OperatorProblem: z.object({
    code: z.string(),
    description: z.string(),
    solution: z.string(),
    link: z.string(),
    details: z.object({ code: z.string(), params: z.record(z.string(), z.unknown()), request_id: z.string() }),
  }),
  OpenAiProblem: z.object({
    error: z.object({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string(),
    }),
  }),
};

export function errorContent({ dialect = "own" }: { readonly dialect?: Dialect }): Json {
  const { type, schema } = spoken[dialect];
  return { [type]: { schema: { $ref: `#/components/schemas/${schema}` } } };
}

const spoken: Readonly<Record<Dialect, { readonly type: string; readonly schema: keyof typeof errorSchemas }>> = {
  own: { type: "application/problem+json", schema: "Problem" },
  chat: { type: "application/json", schema: "ChatProblem" },
  openai: { type: "application/json", schema: "OpenAiProblem" },
  operators: { type: "application/json", schema: "OperatorProblem" },
};
