import { isDeepStrictEqual } from "node:util";
import { parsedJson } from "../base/json.ts";
import { isRecord, type JsonSchema } from "./schema.ts";

/** Other words that models use: for the names of arguments, and for the values of enums. */
export type Synonyms = {
  readonly names: Readonly<Record<string, string>>;
  readonly words: Readonly<Record<string, string>>;
  /** What a number means under such a name: `timeout_ms` counts in another unit than `timeout`. */
  readonly units?: Readonly<Record<string, (given: number) => number>> | undefined;
};

/**
 * Reads arguments as models really write them: a number or boolean in quotes, JSON inside a string, one value for a
 * list, another word for a name or an enum value, null or "" for "not given". Only what has one meaning is changed; the
 * rest stays as it is, for the schema to say what is wrong with it. `twice`: what was given under two names with two
 * values, as `command, cmd`; which of them is meant nobody knows.
 */
export function readLeniently(
  schema: JsonSchema,
  given: Readonly<Record<string, unknown>>,
  synonyms: Synonyms,
): { value: Record<string, unknown>; ignored: string[]; twice: string[] } {
  const twice: string[] = [];
  return { ...readObject(schema, given, { ...synonyms, twice }), twice };
}

type Reading = Synonyms & { readonly twice: string[] };

function readObject(
  schema: JsonSchema,
  given: Readonly<Record<string, unknown>>,
  synonyms: Reading,
): { value: Record<string, unknown>; ignored: string[] } {
  const { properties = {}, required = [] } = schema;
  const value: Record<string, unknown> = {};
  const givenAs = new Map<string, string>();
  const ignored: string[] = [];
  for (const [key, raw] of Object.entries(given)) {
    const name = nameOf(key, properties, synonyms.names);
    const field = name === undefined ? undefined : properties[name];
    if (name === undefined || field === undefined) {
      ignored.push(key);
      continue;
    }
    if (raw === null || (raw === "" && !required.includes(name))) continue;
    const read = inUnit(key, readValue(field, raw, synonyms), synonyms);
    const before = givenAs.get(name);
    if (before !== undefined && !isDeepStrictEqual(value[name], read)) synonyms.twice.push(`${before}, ${key}`);
    givenAs.set(name, key);
    value[name] = read;
  }
  return { value, ignored };
}

function nameOf(key: string, properties: object, names: Synonyms["names"]): string | undefined {
  const spellings = [key, snakeCase(key)].flatMap((spelling) => [spelling, own(names, spelling)]);
  return spellings.find((spelling) => spelling !== undefined && Object.hasOwn(properties, spelling));
}

function inUnit(key: string, value: unknown, { units = {} }: Synonyms): unknown {
  const unit = own(units, key) ?? own(units, snakeCase(key));
  return unit === undefined || typeof value !== "number" ? value : unit(value);
}

/** One plain value, without any other words for it. */
export function readPlain(schema: JsonSchema, raw: unknown): unknown {
  return readValue(schema, raw, { names: {}, words: {}, twice: [] });
}

function readValue(schema: JsonSchema, raw: unknown, synonyms: Reading): unknown {
  switch (schema.type) {
    case "number":
    case "integer":
      return typeof raw === "string" && /^\s*-?\d+(\.\d+)?\s*$/.test(raw) && isExact(raw) ? Number(raw) : raw;
    case "boolean":
      return typeof raw === "string" && /^(true|false)$/i.test(raw) ? raw.toLowerCase() === "true" : raw;
    case "array":
      return readList(schema, raw, synonyms);
    case "object": {
      const object = unpacked(raw);
      return isRecord(object) ? readObject(schema, object, synonyms).value : raw;
    }
    default:
      return readText(schema, raw, synonyms);
  }
}

/** So many digits are always the same after reading; of more, a number may be another one, and that of another thing. */
const exactDigitsMax = 15;

/** Whether a text that is a number says exactly the one that it is read as. */
export function isExact(text: string): boolean {
  const digits = text.replaceAll(/\D/g, "").replace(/^0+/, "");
  return digits.length <= exactDigitsMax || String(Number(text)) === text.trim();
}

function readList({ items }: JsonSchema, raw: unknown, synonyms: Reading): unknown {
  const list = unpacked(raw);
  const values = Array.isArray(list) ? list : [raw];
  return items === undefined ? values : values.map((value) => readValue(items, value, synonyms));
}

function readText(schema: JsonSchema, raw: unknown, { words }: Synonyms): unknown {
  if (typeof raw === "number" || typeof raw === "boolean") return String(raw);
  const values = schema.enum;
  if (typeof raw !== "string" || values === undefined) return raw;
  const word = snakeCase(raw.trim());
  return [raw, word, own(words, word)].find((spelling) => spelling !== undefined && values.includes(spelling)) ?? raw;
}

/** What a string holds, if it is JSON; anything else as it is. */
export function unpacked(raw: unknown): unknown {
  if (typeof raw !== "string") return raw;
  const json = parsedJson(raw);
  return json === undefined ? raw : json;
}

/** `inProgress`, `In Progress` and `in-progress` → `in_progress`. */
function snakeCase(text: string): string {
  const parted = text.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2");
  return parted.toLowerCase().replaceAll(/[\s-]+/g, "_");
}

function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
