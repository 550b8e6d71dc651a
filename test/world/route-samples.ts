import { z } from "zod";
import type { Route } from "../../src/protocol/route.ts";
import type { Schema } from "./json-schema.ts";

// A request that fits for every row of the route table, made from its schemas: a new route needs no line here.

/** Values by the name of their field, and of the fields that need not be there those that are wanted. */
export type Wanted = Readonly<Record<string, unknown>>;

/** The smallest value that fits, with what is wanted in it. */
export function sampleOf(schema: z.ZodType, wanted: Wanted): unknown {
  const root = schemaOf(schema);
  return sample(root, wanted, root.$defs ?? {});
}

export function hasField(schema: z.ZodType, name: string): boolean {
  return name in (schemaOf(schema).properties ?? {});
}

function schemaOf(schema: z.ZodType): Schema {
  return JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io: "input" })));
}

function sample(schema: Schema, wanted: Wanted, definitions: Readonly<Record<string, Schema>>): unknown {
  const { type, properties = {}, required = [], items, minItems = 0 } = schema;
  const named = schema.$ref?.split("/").at(-1);
  if (named !== undefined) return sample(definitions[named] ?? {}, wanted, definitions);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const [choice] = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [];
  if (choice !== undefined) return sample(choice, wanted, definitions);
  switch (typeof type === "string" ? type : type?.[0]) {
    case "object": {
      const isWanted = (name: string) => name in wanted && mayBe(properties[name] ?? {}, wanted[name]);
      const names = Object.keys(properties).filter((name) => required.includes(name) || isWanted(name));
      return Object.fromEntries(
        names.map((name) => [
          name,
          isWanted(name) ? wanted[name] : sample(properties[name] ?? {}, wanted, definitions),
        ]),
      );
    }
    case "array":
      return Array.from({ length: minItems }, () => sample(items ?? {}, wanted, definitions));
    case "integer":
    case "number":
      return schema.minimum ?? (schema.exclusiveMinimum ?? 0) + 1;
    case "boolean":
      return false;
    case "null":
      return null;
    default:
      return "x";
  }
}

/** Two routes may use one name for a text and for an object. */
function mayBe({ type, anyOf = [], oneOf = [] }: Schema, value: unknown): boolean {
  const choices = [...anyOf, ...oneOf];
  if (typeof value !== "string") return true;
  if (type !== undefined) return [type].flat().includes("string");
  return choices.length === 0 || choices.some((choice) => mayBe(choice, value));
}

/** A route's path with its parameters filled in; each must be named. */
export function pathOf({ path, query }: Route, params: Readonly<Record<string, string>>, wanted: Wanted): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`nobody says what {${name}} of ${path} is`);
    return encodeURIComponent(value);
  });
  const asked = z.record(z.string(), z.unknown()).parse(sampleOf(query, wanted) ?? {});
  const search = new URLSearchParams(Object.entries(asked).map(([name, value]) => [name, String(value)]));
  return search.size === 0 ? filled : `${filled}?${search}`;
}
