import type { ToolDescription } from "../../protocol/message.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import { wireName } from "../wire/tool-names.ts";

/** A tool as Google has it. A schema without properties is left out: at the root it is refused. */
export function writeTool({ name, description, parameters }: ToolDescription): object {
  const { properties } = parameters;
  const isEmpty = !isObject(properties) || Object.keys(properties).length === 0;
  return {
    name: wireName(name),
    ...(description === undefined ? {} : { description }),
    ...(isEmpty ? {} : { parametersJsonSchema: { type: "object", ...lowered(parameters) } }),
  };
}

/** The words of JSON schema that Google documents. One that it does not know refuses the whole request. */
const plainWords = new Set([
  ...["$ref", "$id", "$anchor", "title", "description", "type", "format", "enum", "required"],
  ...["minItems", "maxItems", "minimum", "maximum"],
]);
const schemaMaps = new Set(["properties", "$defs"]);
const schemaLists = new Set(["anyOf", "prefixItems"]);

/**
 * A schema in these words. What has another name there is renamed; what cannot be said is left out, and the tool checks
 * its arguments itself.
 */
function lowered(schema: unknown): JsonObject {
  if (!isObject(schema)) return {};
  const { definitions, oneOf, const: only, ...rest } = schema;
  const renamed: JsonObject = {
    ...rest,
    ...(isObject(definitions) ? { $defs: definitions } : {}),
    ...(Array.isArray(oneOf) ? { anyOf: oneOf } : {}),
    ...(isChoice(only) ? { enum: [only] } : {}),
  };
  return Object.fromEntries(Object.entries(renamed).flatMap(([word, value]) => loweredWord(word, value)));
}

function loweredWord(word: string, value: unknown): [string, unknown][] {
  if (schemaMaps.has(word) && isObject(value))
    return [[word, Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, lowered(schema)]))]];
  if (schemaLists.has(word) && Array.isArray(value)) return [[word, value.map(lowered)]];
  if (word === "items" && isObject(value)) return [[word, lowered(value)]];
  if (word === "additionalProperties") return [[word, isObject(value) ? lowered(value) : value === true]];
  if (word === "$ref" && typeof value === "string") return [[word, value.replace(/^#\/definitions\//, "#/$defs/")]];
  if (word === "enum" && !(Array.isArray(value) && value.every(isChoice))) return [];
  return plainWords.has(word) ? [[word, value]] : [];
}

function isChoice(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number";
}
