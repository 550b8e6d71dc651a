import type { ToolDescription } from "../../protocol/message.ts";
import type { Profile } from "../profile.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import { toolSchema } from "../wire/schema.ts";
import { wireName } from "../wire/tool-names.ts";

/** A tool as Responses have it. It has to say that its schema is not strict: otherwise it is taken for that. */
export function writeTool(tool: ToolDescription, profile: Profile): object {
  const { parameters, strict = false } = toolSchema(tool, profile.schemaDialect);
  return {
    type: "function",
    name: wireName(tool.name),
    ...(tool.description === undefined ? {} : { description: tool.description }),
    parameters: strict ? parameters : loweredRoot(parameters),
    strict,
  };
}

/** At the root only an object with properties is taken, and nothing that would choose between several. */
function loweredRoot(schema: JsonObject): JsonObject {
  const { anyOf, oneOf, allOf, not, enum: _values, properties, ...rest } = schema;
  return lowered({ ...rest, type: "object", properties: isObject(properties) ? properties : {} });
}

/** `true` and `false` are schemas, too, but not to OpenAI: both become the one that says nothing. */
function lowered(schema: unknown): JsonObject {
  if (!isObject(schema)) return {};
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (schemaMaps.has(key) && isObject(value)) return [key, mapped(value)];
      if (schemaLists.has(key) && Array.isArray(value)) return [key, value.map(lowered)];
      return [key, key === "items" || (key === "additionalProperties" && isObject(value)) ? lowered(value) : value];
    }),
  );
}

const schemaMaps = new Set(["properties", "$defs", "definitions"]);
const schemaLists = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);

function mapped(schemas: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, lowered(schema)]));
}
