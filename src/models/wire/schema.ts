import type { ToolDescription } from "../../protocol/message.ts";
import type { Profile } from "../profile.ts";
import { isObject, type JsonObject } from "./json.ts";

export type ToolSchema = { readonly parameters: JsonObject; readonly strict?: true };

/** A tool's parameters in the dialect of JSON schema that the server understands. */
export function toolSchema(tool: ToolDescription, dialect: Profile["schemaDialect"]): ToolSchema {
  const parameters: JsonObject =
    tool.parameters.type === undefined ? { type: "object", properties: {}, ...tool.parameters } : tool.parameters;
  switch (dialect) {
    case "json-schema":
      return { parameters };
    case "mfjs":
      return { parameters: toMfjsRoot(parameters) };
    case "openai-strict": {
      const closed = close(parameters);
      return closed === undefined ? { parameters } : { parameters: closed, strict: true };
    }
  }
}

const schemaMaps = ["properties", "$defs", "definitions"];
const schemaLists = ["anyOf", "oneOf", "allOf"];

/** What strict mode cannot say. A tool that needs one of these goes out as it is, without the promise. */
const openKeywords = [
  "allOf not if then else patternProperties propertyNames unevaluatedProperties".split(" "),
  "dependentRequired dependentSchemas prefixItems contains minProperties maxProperties".split(" "),
].flat();

/** Strict mode: every object closed, every property required, the optional ones nullable. `undefined` where it cannot be. */
function close(schema: unknown): JsonObject | undefined {
  if (!isObject(schema) || openKeywords.some((keyword) => keyword in schema)) return undefined;
  const { oneOf, default: _unsupported, ...rest } = schema;
  const closed: Record<string, unknown> = oneOf === undefined ? { ...rest } : { ...rest, anyOf: oneOf };
  for (const key of schemaMaps) if (key in closed) closed[key] = closeMembers(closed[key]);
  if ("items" in closed) closed.items = close(closed.items);
  if ("anyOf" in closed) closed.anyOf = closeBranches(closed.anyOf);
  return Object.values(closed).includes(undefined) ? undefined : closeObject(closed);
}

function closeMembers(members: unknown): JsonObject | undefined {
  if (!isObject(members)) return undefined;
  const closed = Object.entries(members).map(([name, member]) => [name, close(member)] as const);
  return closed.some(([, member]) => member === undefined) ? undefined : Object.fromEntries(closed);
}

function closeBranches(branches: unknown): unknown {
  const closed = Array.isArray(branches) ? branches.map(close) : [undefined];
  return closed.includes(undefined) ? undefined : closed;
}

function closeObject(schema: JsonObject): JsonObject | undefined {
  const isObjectType = [schema.type].flat().includes("object");
  if (!isObjectType && !("properties" in schema)) return schema;
  const { properties, additionalProperties } = schema;
  // A free-form object cannot be closed without losing what it is for.
  if (!isObject(properties) || isObject(additionalProperties) || additionalProperties === true) return undefined;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const members = Object.entries(properties).map(
    ([name, member]) => [name, required.includes(name) ? member : nullable(member)] as const,
  );
  return {
    ...schema,
    properties: Object.fromEntries(members),
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

function nullable(schema: unknown): unknown {
  if (!isObject(schema) || allowsNull(schema)) return schema;
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: [...schema.anyOf, { type: "null" }] };
  if (schema.type === undefined || "const" in schema) return { anyOf: [schema, { type: "null" }] };
  const values = Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {};
  return { ...schema, type: [schema.type, "null"].flat(), ...values };
}

function allowsNull(schema: JsonObject): boolean {
  if ([schema.type].flat().includes("null")) return true;
  const branches = [schema.anyOf, schema.oneOf].flat();
  return branches.some((branch) => isObject(branch) && allowsNull(branch));
}

/**
 * The other half of strict mode: a model that leaves an optional property out has to write null for it. Those nulls are
 * taken away again, so that a tool sees what its own schema allows. The same object comes back when there are none.
 */
export function withoutAddedNulls(value: JsonObject, schema: JsonObject): JsonObject {
  const { properties } = schema;
  if (!isObject(properties)) return value;
  const required = Array.isArray(schema.required) ? schema.required : [];
  let isChanged = false;
  const kept = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    const own = properties[name];
    if (!isObject(own)) return [[name, member]];
    const isAdded = member === null && !required.includes(name) && !allowsNull(own);
    const inner = isObject(member) ? withoutAddedNulls(member, own) : member;
    isChanged ||= isAdded || inner !== member;
    return isAdded ? [] : [[name, inner]];
  });
  return isChanged ? Object.fromEntries(kept) : value;
}

/** Moonshot wants the type inside the branches; at the root the type must stay, so there the branches go. */
function toMfjsRoot(schema: JsonObject): JsonObject {
  const { anyOf, ...rest } = schema;
  return toMfjs(anyOf === undefined || !("type" in schema) ? schema : rest);
}

function toMfjs(schema: JsonObject): JsonObject {
  const converted: Record<string, unknown> = { ...schema };
  for (const key of schemaMaps) {
    const members = converted[key];
    if (!isObject(members)) continue;
    converted[key] = Object.fromEntries(Object.entries(members).map(([name, member]) => [name, mfjsMember(member)]));
  }
  for (const key of schemaLists) {
    const branches = converted[key];
    if (Array.isArray(branches)) converted[key] = branches.map(mfjsMember);
  }
  for (const key of ["items", "additionalProperties"]) {
    if (isObject(converted[key])) converted[key] = toMfjs(converted[key]);
  }
  if (!Array.isArray(converted.anyOf) || converted.type === undefined) return converted;
  const { type, ...rest } = converted;
  return {
    ...rest,
    anyOf: converted.anyOf.map((branch: JsonObject) => ("type" in branch ? branch : { type, ...branch })),
  };
}

/** `true` and `false` are schemas too, but not to Moonshot. */
function mfjsMember(member: unknown): JsonObject {
  return isObject(member) ? toMfjs(member) : {};
}
