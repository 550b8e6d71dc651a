import { assert } from "../base/assert.ts";

/** The part of JSON schema that every model family takes without a change. */
export type JsonSchema = {
  readonly type: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly enum?: readonly string[];
};

/** Keeps the words that all families take, in one order, and drops limits and defaults: those stand in descriptions. */
export function plainSchema(source: unknown): JsonSchema {
  const { type, description, properties, required, items, enum: values } = recordOf(source);
  assert(typeof type === "string", "an argument of a tool has one plain type: no union, no null");
  return {
    type,
    ...(typeof description === "string" ? { description } : {}),
    ...(Array.isArray(values) ? { enum: values.map(String) } : {}),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(recordOf(properties)).map(([key, value]) => [key, plainSchema(value)]),
          ),
        }),
    ...(Array.isArray(required) ? { required: required.map(String) } : {}),
    ...(items === undefined ? {} : { items: plainSchema(items) }),
  };
}

/** The form of the arguments in one line, for error texts: `{timezone?: string}`. */
export function signature(schema: JsonSchema): string {
  const { properties } = schema;
  if (properties !== undefined) {
    const fields = Object.entries(properties).map(
      ([name, field]) => `${name}${schema.required?.includes(name) ? "" : "?"}: ${signature(field)}`,
    );
    return `{${fields.join(", ")}}`;
  }
  if (schema.items !== undefined) return `[${signature(schema.items)}, ...]`;
  return schema.enum?.map((value) => JSON.stringify(value)).join(" | ") ?? schema.type;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}
