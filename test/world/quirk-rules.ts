import { z } from "zod";

const WireMessage = z.looseObject({
  role: z.string(),
  content: z.unknown(),
  tool_calls: z
    .array(z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string(), arguments: z.unknown() }) }))
    .optional(),
  tool_call_id: z.string().optional(),
});
type WireMessage = z.infer<typeof WireMessage>;

const WireBody = z.looseObject({
  messages: z.array(WireMessage),
  tools: z
    .array(
      z.looseObject({
        function: z.looseObject({ name: z.string(), strict: z.boolean().optional(), parameters: z.unknown() }),
      }),
    )
    .default([]),
});
type WireBody = z.infer<typeof WireBody>;

/** The rules over a whole body, by name: `undefined` when the body keeps the rule, else a sentence. */
export function brokenRule(name: string, value: unknown): string | undefined {
  const body = WireBody.parse(value);
  const rule = rules.get(name);
  if (rule === undefined) return `there is no rule ${name}`;
  return rule(body) ? undefined : `rule ${name} is broken`;
}

const rules = new Map<string, (body: WireBody) => boolean>([
  ["tool-results-follow-calls", ({ messages }) => resultsFollowCalls(messages)],
  ["tool-ids-unique", ({ messages }) => areUnique(callsOf(messages).map((call) => call.id))],
  ["tool-names-valid", ({ tools }) => areValidNames(tools.map((tool) => tool.function.name))],
  [
    "arguments-are-json-strings",
    ({ messages }) => callsOf(messages).every((call) => isJsonObjectText(call.function.arguments)),
  ],
  ["known-message-fields", ({ messages }) => messages.every(hasKnownFields)],
  ["roles-alternate", ({ messages }) => doRolesAlternate(messages)],
  ["system-first-only", ({ messages }) => messages.every((message, index) => !isSystem(message) || index === 0)],
  ["no-user-after-tool", ({ messages }) => !isFollowedBy(messages, "tool", "user")],
  ["last-role-user-or-tool", ({ messages }) => ["user", "tool"].includes(messages.at(-1)?.role ?? "")],
  ["images-only-in-user", ({ messages }) => messages.every((message) => message.role === "user" || !hasImage(message))],
  ["well-formed-unicode", (body) => allStrings(body).every((text) => text.isWellFormed())],
  [
    "strict-schemas-closed",
    ({ tools }) => tools.every((tool) => !tool.function.strict || isClosed(tool.function.parameters)),
  ],
  ["mfjs-anyof", ({ tools }) => tools.every((tool) => isMfjs(tool.function.parameters))],
]);

function callsOf(messages: readonly WireMessage[]) {
  return messages.flatMap((message) => message.tool_calls ?? []);
}

function resultsFollowCalls(messages: readonly WireMessage[]): boolean {
  let expected: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      if (!expected.includes(message.tool_call_id ?? "")) return false;
      expected = expected.filter((id) => id !== message.tool_call_id);
    } else {
      if (expected.length > 0) return false;
      expected = (message.tool_calls ?? []).map((call) => call.id);
    }
  }
  return expected.length === 0;
}

function areUnique(values: readonly string[]): boolean {
  return new Set(values).size === values.length;
}

function areValidNames(names: readonly string[]): boolean {
  return areUnique(names) && names.every((name) => /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/.test(name));
}

function isJsonObjectText(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    return isRecord(JSON.parse(value));
  } catch {
    return false;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function hasKnownFields(message: WireMessage): boolean {
  const own =
    message.role === "assistant" ? ["tool_calls", "refusal"] : message.role === "tool" ? ["tool_call_id"] : [];
  const known = ["role", "content", "name", ...own];
  return Object.keys(message).every((key) => known.includes(key));
}

function isSystem(message: WireMessage): boolean {
  return message.role === "system" || message.role === "developer";
}

function doRolesAlternate(messages: readonly WireMessage[]): boolean {
  const rest = messages.slice(messages[0] !== undefined && isSystem(messages[0]) ? 1 : 0);
  if (rest[0]?.role !== "user") return false;
  const spoken = rest.filter((message) => message.role !== "tool" && message.tool_calls === undefined);
  return (
    rest.every((message, index) => message.role === "tool" || message.role !== rest[index - 1]?.role) &&
    spoken.every((message, index) => message.role === (index % 2 === 0 ? "user" : "assistant"))
  );
}

function isFollowedBy(messages: readonly WireMessage[], first: string, second: string): boolean {
  return messages.some((message, index) => message.role === first && messages[index + 1]?.role === second);
}

function hasImage(message: WireMessage): boolean {
  return JSON.stringify(message.content ?? "").includes("image_url");
}

function allStrings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(allStrings);
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => [key, ...allStrings(member)]);
}

/** Every schema inside a schema, itself included. */
function schemas(schema: unknown): Record<string, unknown>[] {
  if (!isRecord(schema)) return [];
  const maps = ["properties", "$defs", "definitions"].flatMap((key) =>
    isRecord(schema[key]) ? Object.values(schema[key]) : [],
  );
  const lists = ["anyOf", "oneOf", "allOf"].flatMap((key) => (Array.isArray(schema[key]) ? schema[key] : []));
  return [schema, ...[...maps, ...lists, schema.items].flatMap(schemas)];
}

function isClosed(parameters: unknown): boolean {
  return schemas(parameters)
    .filter((schema) => schema.type === "object" || "properties" in schema)
    .every((schema) => {
      const names = isRecord(schema.properties) ? Object.keys(schema.properties) : [];
      const required = Array.isArray(schema.required) ? schema.required : [];
      return schema.additionalProperties === false && names.every((name) => required.includes(name));
    });
}

function isMfjs(parameters: unknown): boolean {
  return schemas(parameters).every((schema) => {
    const properties = isRecord(schema.properties) ? Object.values(schema.properties) : [];
    return !("anyOf" in schema && "type" in schema) && properties.every(isRecord);
  });
}
