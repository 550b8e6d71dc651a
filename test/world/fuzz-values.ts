import { z } from "zod";
import type { Chance } from "./fuzz-chance.ts";
import type { Schema } from "./json-schema.ts";

// Values for the fields of a request, made from its schema: such as fit, such as nearly fit, and such as nobody expects.

/** A value for a field of this name, where somebody knows a better one than the schema can tell. */
export type Known = (field: string) => unknown;

export type Wanted = { readonly schema: z.ZodType; readonly chance: Chance; readonly known: Known };

/** Query and path are texts that become what the schema says; a body is what it says. */
export function fitting({ schema, chance, known }: Wanted, io: "input" | "output" = "input"): unknown {
  const root = schemaOf(schema, io);
  return fit(root, { chance, known, definitions: root.$defs ?? {}, depth: 0 });
}

const schemas = new WeakMap<z.ZodType, Map<string, Schema>>();

function schemaOf(schema: z.ZodType, io: "input" | "output"): Schema {
  const kept = schemas.get(schema) ?? new Map<string, Schema>();
  schemas.set(schema, kept);
  const made: Schema =
    kept.get(io) ?? JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io, unrepresentable: "any" })));
  kept.set(io, made);
  return made;
}

type Fitting = {
  readonly chance: Chance;
  readonly known: Known;
  readonly definitions: Readonly<Record<string, Schema>>;
  readonly depth: number;
};

function fit(schema: Schema, place: Fitting): unknown {
  const { chance, definitions } = place;
  const named = schema.$ref?.split("/").at(-1);
  if (named !== undefined) return fit(definitions[named] ?? {}, place);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return chance.pick(schema.enum);
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (choices !== undefined) return fit(chance.pick(choices), place);
  const type = typeof schema.type === "object" ? chance.pick(schema.type) : schema.type;
  switch (type) {
    case "object":
      return fitObject(schema, place);
    case "array":
      return fitArray(schema, place);
    case "integer":
    case "number":
      return fitNumber(schema, chance);
    case "boolean":
      return chance.odds(0.5);
    case "null":
      return null;
    case "string":
      return fitText(schema, chance);
    default:
      return place.depth > 3 ? null : chance.pick<unknown>(["x", 1, true, null, [1, "a"], { a: { b: [null] } }]);
  }
}

function fitObject({ properties = {}, required = [], additionalProperties }: Schema, place: Fitting): unknown {
  const { chance, known } = place;
  const inner = { ...place, depth: place.depth + 1 };
  // With few of the fields that may be left out most calls mean something; with many they contradict themselves.
  const share = chance.pick([0, 0.1, 0.5]);
  const names = Object.keys(properties).filter(
    (name) => required.includes(name) || chance.odds(telling.has(name) ? 0.9 : share),
  );
  const fields = names.map((name): [string, unknown] => {
    const better = chance.odds(0.9) ? known(name) : undefined;
    const schema = properties[name] ?? {};
    return [name, better !== undefined && mayBe(schema, better, place) ? better : fit(schema, inner)];
  });
  if (typeof additionalProperties !== "object" || place.depth > 3) return Object.fromEntries(fields);
  const more = Array.from({ length: chance.int(0, 3) }, (): [string, unknown] => [
    chance.pick(["a", "B_2", "name", "x1"]),
    fit(additionalProperties, inner),
  ]);
  return Object.fromEntries([...fields, ...more]);
}

/** Whether a field takes this kind of value at all: one name means different things in different calls. */
function mayBe(schema: Schema, value: unknown, place: Fitting): boolean {
  const named = schema.$ref?.split("/").at(-1);
  if (named !== undefined) return mayBe(place.definitions[named] ?? {}, value, place);
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (choices !== undefined) return choices.some((choice) => mayBe(choice, value, place));
  if (schema.const !== undefined || schema.enum !== undefined)
    return [schema.const, ...(schema.enum ?? [])].includes(value);
  const kind = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? [kind]);
  return types.some((type) => type === kind || (type === "integer" && kind === "number"));
}

/** Without one of these nothing is said. */
const telling: ReadonlySet<string> = new Set(["query", "text", "input", "content", "conversation_id", "name"]);

function fitArray({ items = {}, minItems = 0, maxItems = 1_000 }: Schema, place: Fitting): unknown[] {
  const { chance, depth } = place;
  const most = Math.min(maxItems, minItems + (depth > 3 ? 1 : 3));
  return Array.from({ length: chance.int(minItems, most) }, () => fit(items, { ...place, depth: depth + 1 }));
}

/** The ends of the range as often as what is between them. */
function fitNumber(schema: Schema, chance: Chance): number {
  const isInteger = schema.type === "integer";
  const min = schema.minimum ?? (schema.exclusiveMinimum === undefined ? -1_000 : schema.exclusiveMinimum + 0.5);
  const max = schema.maximum ?? (schema.exclusiveMaximum === undefined ? min + 1_000 : schema.exclusiveMaximum - 0.5);
  const [low, high] = isInteger ? [Math.ceil(min), Math.floor(max)] : [min, max];
  const usual = chance.int(Math.ceil(low), Math.floor(Math.min(high, low + 20)));
  return chance.pick([low, high, Math.min(high, Math.max(low, usual))]);
}

/** Texts that stand in one line. */
export function each(texts: string): string[] {
  return texts.split("¦");
}

const samples = ["x", "a1", "1Mi", "512Mi", "tus-00", "1.2", "42", "A_B", "https://a.invalid/simple", "left-pad", "0"];

function fitText({ minLength = 0, maxLength = 5_000, pattern, format }: Schema, chance: Chance): string {
  if (format === "uri") return "https://a.invalid/simple";
  if (pattern !== undefined) return samples.find((sample) => new RegExp(pattern, "u").test(sample)) ?? "x";
  const texts = ["x", "hello there", "你好，世界", "🙂 a\u0301", "a\nb\tc", "x".repeat(Math.min(maxLength, 400)), "  "];
  return chance.pick(texts).slice(0, maxLength).padEnd(minLength, "x");
}

/** Stands in a body for brackets within brackets; no program can make JSON text of so many by itself. */
const deepMark = "@deep@";

/** JSON text with what no JSON.stringify could make. */
export function jsonText(value: unknown, chance: Chance): string {
  const text = JSON.stringify(value) ?? "";
  return text.replaceAll(`"${deepMark}"`, () => {
    const depth = chance.pick([20, 250, 3_000, 60_000]);
    return chance.odds(0.5) ? "[".repeat(depth) + "]".repeat(depth) : `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
  });
}

/** Where a body can say something, as names from the outside in; a list has its first item. */
export function placesIn(schema: z.ZodType): string[][] {
  const root = schemaOf(schema, "input");
  const below = (inner: Schema, path: readonly string[]): string[][] => {
    if (path.length > 3) return [];
    const choices = [inner, ...(inner.anyOf ?? []), ...(inner.oneOf ?? [])];
    const fields = choices.flatMap(({ properties = {} }) => Object.entries(properties));
    const items = choices.flatMap(({ items: one }) => (one === undefined ? [] : [["0", one] as const]));
    return [...fields, ...items].flatMap(([name, one]) => [[...path, name], ...below(one, [...path, name])]);
  };
  return [...new Map(below(root, []).map((path) => [path.join("."), path])).values()];
}

/** The value with something else in one place. */
export function withAt(value: unknown, [name, ...rest]: readonly string[], put: unknown): unknown {
  if (name === undefined) return put;
  if (name === "0") return [withAt(Array.isArray(value) ? value[0] : undefined, rest, put)];
  const fields = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const before = fields.find(([field]) => field === name)?.[1];
  return Object.fromEntries([...fields.filter(([field]) => field !== name), [name, withAt(before, rest, put)]]);
}

/** What a field of any kind has to stand. */
export const trials: readonly unknown[] = [
  ...[deepMark, null, [], {}, true, -1, 0, 2 ** 53, 1e308, "", "\u0000", "\ud800", "../../x", "x".repeat(300_000)],
  JSON.parse('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"x":1}},"toString":1,"then":"x"}'),
];

/** One thing in it is made wrong, missing or too much. */
export function spoiled(value: unknown, chance: Chance): unknown {
  if (Array.isArray(value)) {
    if (value.length === 0 || chance.odds(0.3)) return chance.odds(0.5) ? oddValue(chance) : tooMany(value, chance);
    const at = chance.int(0, value.length - 1);
    return value.map((item: unknown, index) => (index === at ? spoiled(item, chance) : item));
  }
  if (typeof value !== "object" || value === null) return oddValue(chance);
  const fields = Object.entries(value);
  const kind = chance.next();
  if (kind < 0.1) return oddValue(chance);
  if (kind < 0.25 || fields.length === 0) return Object.fromEntries([...fields, [oddName(chance), oddValue(chance)]]);
  const at = chance.int(0, fields.length - 1);
  if (kind < 0.4) return Object.fromEntries(fields.filter((_, index) => index !== at));
  return Object.fromEntries(
    fields.map(([name, inner], index) => [name, index === at ? spoiled(inner, chance) : inner]),
  );
}

function tooMany(items: readonly unknown[], chance: Chance): unknown[] {
  const item = items[0] ?? oddValue(chance);
  return Array.from({ length: chance.pick([51, 300, 11_000]) }, () => item);
}

function oddName(chance: Chance): string {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "then", "", "\u0000", "a".repeat(3_000)];
  return chance.pick([...names, "temp_files", "temporary_area_id", "user_id", "length", "$where", "0", "名"]);
}

export function oddValue(chance: Chance): unknown {
  const kind = chance.next();
  if (kind < 0.25) return chance.pick(oddNumbers);
  if (kind < 0.7) return oddText(chance);
  if (kind < 0.78) return deepMark;
  return chance.pick<unknown>([null, true, false, [], {}, [[]], [null], { id: "x" }, JSON.parse(posing), [{}, 1, "a"]]);
}

const posing = '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"x":1}},"toString":1,"then":"x"}';
const oddNumbers = [
  0,
  -0,
  -1,
  1,
  1.5,
  -0.1,
  1e21,
  1e308,
  -(2 ** 31),
  ...[31, 53, 63].map((bits) => 2 ** bits),
  2 ** 31 - 1,
  2 ** 53 - 1,
];

export function oddText(chance: Chance): string {
  const kind = chance.next();
  if (kind < 0.9) return chance.pick(oddTexts);
  return chance.pick(["a", "界", "🙂", "\u0000", '"', "\\", " "]).repeat(chance.pick([300, 5_000, 70_000, 260_000]));
}

const oddTexts = [
  ...each("¦ ¦\t\r\n¦0¦-1¦1e999¦NaN¦null¦true¦undefined¦[object Object]¦99999999999999999999"),
  ...[
    "\u0000",
    "a\u0000b",
    "\ud800",
    "\udfff\ud800",
    "\ufeff",
    "\u202e\u2066",
    "e\u0301".repeat(40),
    "🙂",
    "ﷺ",
    "ß",
    "İ",
  ],
  ...["..", ".", "/", "//", "../../x", "..\\..\\x", "/etc/passwd", "/workspace/../../x", "~/x", "C:\\x", "file:///x"],
  ...[
    "uploads/../../../x",
    "uploads/\u0000",
    "a/".repeat(300),
    ".metadata.json",
    "./.",
    "con",
    "a\nb",
    "%2e%2e%2f",
    "%00",
  ],
  ...each("' OR 1=1 --¦%_%¦${7*7}¦{{7*7}}¦<script>alert(1)</script>¦$(id)¦`id`¦\r\nset-cookie: a=b¦*"),
  ...each("sess-agent-default¦sb-session-ann¦sess-bob¦agent_main¦__proto__¦constructor¦ann¦bob¦local"),
];
