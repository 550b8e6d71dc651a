import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isDeepStrictEqual } from "node:util";
import type { ModelAnswer } from "../../src/models/provider.ts";
import type { Condition, Conditions, Expect } from "./quirk-data.ts";
import { validateRequest } from "./strict-validator.ts";

export type AskedRequest = {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Body;
  /** Came to the second listener, where nothing may ever come with a key. */
  readonly isElsewhere: boolean;
};

/** The deltas in the order they were delivered. */
export type Delivered = { text: string; reasoning: string };

/** Where an answer is not what the entry expects; empty when it is. */
export function checkAnswer(answer: ModelAnswer, delivered: Delivered, expect: Expect): string[] {
  return [
    ...differs("text", answer.text, expect.text ?? answer.text),
    ...checkDigest(answer.text, expect),
    ...differs("reasoning", answer.reasoning, expect.reasoning),
    ...differs("deltas", delivered, { text: answer.text, reasoning: answer.reasoning }),
    ...differs("finish", answer.finish, expect.finish),
    ...checkCalls(answer, expect),
    ...checkUsage(answer, expect),
    ...checkError(answer, expect),
    ...(expect.keepForReplay ?? []).flatMap((field) => (isKept(answer, field) ? [] : [`${field} was not kept`])),
  ];
}

function differs(what: string, actual: unknown, expected: unknown): string[] {
  if (isDeepStrictEqual(actual, expected)) return [];
  return [`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`];
}

function checkDigest(text: string, { textDigest }: Expect): string[] {
  if (textDigest === undefined) return [];
  const sha256 = createHash("sha256").update(text).digest("hex");
  return differs("textDigest", { sha256, utf16Length: text.length }, textDigest);
}

function checkCalls({ toolCalls }: ModelAnswer, expect: Expect): string[] {
  const ids = toolCalls.map((call) => call.id);
  const isEachUnique = new Set(ids).size === ids.length && !ids.includes("");
  const actual = toolCalls.map((call, index) => ({
    ...(expect.toolCalls[index]?.id === undefined ? {} : { id: call.id }),
    name: call.name,
    ...(call.invalid ? { invalid: true, raw: call.arguments } : { arguments: JSON.parse(call.arguments) }),
  }));
  return [...differs("toolCalls", actual, expect.toolCalls), ...(isEachUnique ? [] : ["an id is empty or used twice"])];
}

function checkUsage({ usage, usageEstimated }: ModelAnswer, expect: Expect): string[] {
  if (expect.usageEstimated) return differs("usageEstimated", usageEstimated, true);
  return [...differs("usage", usage, expect.usage), ...differs("usageEstimated", usageEstimated, undefined)];
}

function checkError({ error }: ModelAnswer, { error: expected }: Expect): string[] {
  if (error === undefined || expected === undefined) return differs("error", error, expected);
  const kinds = [expected.kind, ...(expected.alsoKind ?? [])];
  // Another accepted kind brings its own idea of what may be tried again.
  const isOtherKind = error.kind !== expected.kind;
  const { retryAfterMs: wait } = error;
  const isWaitRight =
    expected.retryAfterMs === undefined
      ? !("retryAfterMs" in error)
      : wait !== undefined && Math.abs(wait - expected.retryAfterMs) <= (expected.toleranceMs ?? 0);
  return [
    ...(kinds.includes(error.kind) ? [] : [`error.kind: ${error.kind} instead of ${kinds.join(" or ")}`]),
    ...(isOtherKind ? [] : differs("error.retryable", error.retryable, expected.retryable)),
    ...(isWaitRight ? [] : [`error.retryAfterMs: ${wait} instead of ${expected.retryAfterMs}`]),
  ];
}

function isKept({ reasoningDetails, toolCalls }: ModelAnswer, field: string): boolean {
  if (field === "reasoning_details") return (reasoningDetails ?? []).length > 0;
  return toolCalls.some((call) => call.extra !== undefined && field in call.extra);
}

/** What is wrong with a request that arrived; empty when it is as the entry wants it. */
export function checkRequest(asked: AskedRequest, must: Conditions, mustNot: Conditions): string[] {
  return [
    ...Object.entries(must).flatMap(([pointer, condition]) => {
      if (isRules(condition)) return condition.flatMap((rule) => brokenRule(rule, asked.body) ?? []);
      return isMet(places(asked, pointer), condition) ? [] : [`requestMust ${pointer} ${JSON.stringify(condition)}`];
    }),
    ...Object.entries(mustNot).flatMap(([pointer, condition]) => {
      if (isRules(condition)) return [];
      const isHit = places(asked, pointer).some((value) => holds(value, condition));
      return isHit ? [`requestMustNot ${pointer} ${JSON.stringify(condition)}`] : [];
    }),
  ];
}

function isMet(found: readonly unknown[], condition: Condition): boolean {
  if (condition.exists === false) return found.length === 0;
  return found.length > 0 && found.every((value) => holds(value, condition));
}

/** All values at a JSON pointer with wildcards; `@` looks at the request line and headers. */
function places(asked: AskedRequest, pointer: string): unknown[] {
  if (pointer === "@method") return [asked.method];
  if (pointer.startsWith("@header/")) return [asked.headers[pointer.slice("@header/".length)]].filter(isThere);
  let found: unknown[] = [asked.body];
  for (const step of pointer.split("/").slice(1))
    found = found.flatMap((value) => members(value, step)).filter(isThere);
  return found;
}

function isThere(value: unknown): boolean {
  return value !== undefined;
}

function members(value: unknown, step: string): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  if (step === "*") return Object.values(value);
  if (Array.isArray(value)) return [value.at(Number(step))];
  return [Object.getOwnPropertyDescriptor(value, step)?.value];
}

function holds(value: unknown, condition: Condition): boolean {
  const { exists, type, matches, maxLength, minItems, maxItems, oneOf } = condition;
  const text = typeof value === "string" ? value : undefined;
  const items = Array.isArray(value) ? value.length : undefined;
  return (
    exists !== false &&
    (!("equals" in condition) || isDeepStrictEqual(value, condition.equals)) &&
    (type === undefined || typeOf(value) === type) &&
    (matches === undefined || (text !== undefined && new RegExp(matches).test(text))) &&
    (maxLength === undefined || (text !== undefined && text.length <= maxLength)) &&
    (minItems === undefined || (items !== undefined && items >= minItems)) &&
    (maxItems === undefined || (items !== undefined && items <= maxItems)) &&
    (oneOf === undefined || oneOf.some((option) => isDeepStrictEqual(value, option)))
  );
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function isRules(condition: Conditions[string]): condition is readonly string[] {
  return Array.isArray(condition);
}

type Message = { readonly role: string; readonly tool_calls?: unknown };
type Body = { messages: Message[]; tools?: { function: { strict?: boolean; parameters: unknown } }[] };

/** Whether a whole body breaks the rule of this name. Most are among what a strict server refuses. */
function brokenRule(name: string, body: Body): string | undefined {
  const rule = rules.get(name);
  const problems = rule === undefined ? validateRequest(body) : [];
  if (problems.length > 0) return `rule ${name}: ${problems.join("; ")}`;
  return rule === undefined || rule(body) ? undefined : `rule ${name} is broken`;
}

const rules = new Map<string, (body: Body) => boolean>([
  ["roles-alternate", ({ messages }) => doRolesAlternate(messages)],
  [
    "no-user-after-tool",
    ({ messages }) => messages.every((one, at) => one.role !== "user" || messages[at - 1]?.role !== "tool"),
  ],
  [
    "strict-schemas-closed",
    ({ tools = [] }) => tools.every((tool) => !tool.function.strict || isClosed(tool.function.parameters)),
  ],
  ["mfjs-anyof", ({ tools = [] }) => tools.every((tool) => isMfjs(tool.function.parameters))],
]);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function doRolesAlternate(messages: readonly Message[]): boolean {
  const rest = messages.filter(({ role }) => role !== "system" && role !== "developer");
  const spoken = rest.filter((message) => message.role !== "tool" && message.tool_calls === undefined);
  return (
    rest.every((message, index) => message.role === "tool" || message.role !== rest[index - 1]?.role) &&
    spoken.every((message, index) => message.role === (index % 2 === 0 ? "user" : "assistant"))
  );
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
