import { parsedJson } from "../base/json.ts";
import { forModels } from "../words/words.ts";
import { readPlain, unpacked } from "./arguments.ts";
import { isRecord, type JsonSchema, recordOf, signature } from "./schema.ts";

/** The arguments of a tool that others described: what a model is shown of them, and how they are read again. */
export type ForeignSchema = {
  readonly schema: JsonSchema;
  /** Puts right what models write, and leaves the rest to the other side: only they know their rules. */
  read(raw: unknown): unknown;
};

/** Deeper objects are hard for models, and some families refuse them: those are written as text. */
const depthMax = 2;
/** A reference to a reference and so on; whatever goes on after it is taken for a circle. */
const referencesMax = 16;
const descriptionMax = 400;
const formMax = 600;
const namesMax = 100;

/**
 * The common part of JSON schema that all families take (`plainSchema` demands it of our own tools), made from whatever
 * others wrote. What that part cannot say becomes a string that holds JSON, with its form in the description.
 */
export function foreignSchema(source: unknown): ForeignSchema {
  const lowered = lower(source, { root: source, depth: 0, references: 0 });
  return lowered.schema.type === "object" ? lowered : objectOf({}, { root: source, depth: 0, references: 0 });
}

type Place = { readonly root: unknown; readonly depth: number; readonly references: number };

function lower(source: unknown, place: Place): ForeignSchema {
  const { own, place: here } = resolved(recordOf(source), place);
  const branches = branchesOf(own);
  if (branches !== undefined) {
    const [only, ...others] = branches;
    if (only !== undefined && others.length === 0) return lower({ ...without(own, "anyOf", "oneOf"), ...only }, here);
    return enumOf(own, branches) ?? openValue(own, here);
  }
  switch (typeOf(own)) {
    case "object":
      return isRecord(own.properties) || here.depth === 0 ? objectOf(own, here) : openValue(own, here);
    case "array":
      return listOf(own, here);
    case "string":
    case "integer":
    case "number":
    case "boolean":
      return plainValue(own);
    default:
      return openValue(own, here);
  }
}

/** What a reference stands for, and what all parts of an `allOf` say together. */
function resolved(own: Own, place: Place): { own: Own; place: Place } {
  if (place.references > referencesMax) return { own: { description: own.description }, place };
  const deeper = { ...place, references: place.references + 1 };
  if (typeof own.$ref === "string") {
    const target = recordOf(lookedUp(place.root, own.$ref));
    return resolved({ ...target, ...without(own, "$ref") }, deeper);
  }
  if (!Array.isArray(own.allOf)) return { own, place };
  const parts = own.allOf.map((part) => resolved(recordOf(part), deeper).own);
  const all = [...parts, without(own, "allOf")];
  const properties = Object.assign({}, ...all.map((part) => recordOf(part.properties)));
  const required = all.flatMap((part) => (Array.isArray(part.required) ? part.required : []));
  const merged: Own = Object.assign({}, ...all);
  return { own: Object.keys(properties).length === 0 ? merged : { ...merged, properties, required }, place: deeper };
}

type Own = Readonly<Record<string, unknown>>;

function lookedUp(root: unknown, reference: string): unknown {
  if (!reference.startsWith("#")) return undefined;
  const steps = reference.slice(1).split("/").slice(1);
  return steps.reduce((inside: unknown, step) => {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    return isRecord(inside) && Object.hasOwn(inside, key) ? inside[key] : undefined;
  }, root);
}

/** The alternatives without null, which only says that something may be left out. */
function branchesOf(own: Own): Own[] | undefined {
  const listed = [own.anyOf, own.oneOf].find((list) => Array.isArray(list));
  const types = Array.isArray(own.type) ? own.type.map((type) => ({ type })) : undefined;
  const branches = Array.isArray(listed) ? listed.map(recordOf) : types;
  return branches?.filter(({ type }) => type !== "null");
}

/** Alternatives that are all texts to choose from are one list of texts. */
function enumOf(own: Own, branches: readonly Own[]): ForeignSchema | undefined {
  const values = branches.flatMap((branch) => textsIn(branch) ?? []);
  const isAll = branches.length > 0 && branches.every((branch) => textsIn(branch) !== undefined);
  return isAll ? plainValue({ ...without(own, "anyOf", "oneOf"), type: "string", enum: values }) : undefined;
}

function textsIn({ const: value, enum: values }: Own): string[] | undefined {
  const all = Array.isArray(values) ? values : [value];
  return all.every((one) => typeof one === "string") ? all : undefined;
}

function typeOf({ type, properties, items, enum: values, const: value }: Own): unknown {
  if (typeof type === "string") return type;
  if (isRecord(properties)) return "object";
  if (items !== undefined) return "array";
  return textsIn({ enum: values, const: value }) === undefined ? undefined : "string";
}

function objectOf(own: Own, place: Place): ForeignSchema {
  const members = Object.entries(recordOf(own.properties)).slice(0, namesMax);
  if (place.depth > depthMax) return openValue(own, place);
  const lowered = new Map(
    members.map(([name, member]) => [name, lower(member, { ...place, depth: place.depth + 1 })] as const),
  );
  const required = (Array.isArray(own.required) ? own.required : []).map(String).filter((name) => lowered.has(name));
  const schema: JsonSchema = {
    type: "object",
    ...described(own),
    properties: Object.fromEntries([...lowered].map(([name, { schema: member }]) => [name, member])),
    ...(required.length > 0 ? { required } : {}),
  };
  return {
    schema,
    read(raw) {
      const given = unpacked(raw);
      if (!isRecord(given)) return raw;
      return Object.fromEntries(
        Object.entries(given).flatMap(([name, value]): [string, unknown][] => {
          const isLeftOut = lowered.has(name) && !required.includes(name) && value === null;
          return isLeftOut ? [] : [[name, lowered.get(name)?.read(value) ?? value]];
        }),
      );
    },
  };
}

function listOf(own: Own, place: Place): ForeignSchema {
  if (!isRecord(own.items)) return openValue(own, place);
  const items = lower(own.items, { ...place, depth: place.depth + 1 });
  return {
    schema: { type: "array", ...described(own), items: items.schema },
    read(raw) {
      const list = unpacked(raw);
      return (Array.isArray(list) ? list : [raw]).map((value) => items.read(value));
    },
  };
}

function plainValue(own: Own): ForeignSchema {
  const type = String(typeOf(own));
  const texts = type === "string" ? textsIn(own) : undefined;
  const values = Array.isArray(own.enum) && texts === undefined ? own.enum : undefined;
  const schema: JsonSchema = { type, ...described(own, values), ...(texts === undefined ? {} : { enum: texts }) };
  return { schema, read: (raw) => readPlain(schema, raw) };
}

/** Anything else is written as JSON. A text that is no JSON is a text: it may be one of the things that are allowed. */
function openValue(own: Own, place: Place): ForeignSchema {
  const form = formOf(own, place);
  const { description } = described(own);
  return {
    schema: { type: "string", description: [description, forModels.jsonAsText(form)].filter(Boolean).join(" ") },
    read(raw) {
      const json = typeof raw === "string" ? parsedJson(raw) : undefined;
      return json === undefined ? raw : json;
    },
  };
}

function formOf(own: Own, place: Place): string {
  const isKnown = place.references <= referencesMax && isRecord(own.properties);
  if (!isKnown) return typeof own.type === "string" ? own.type : "";
  const fields = Object.entries(recordOf(own.properties)).slice(0, namesMax);
  const plain = fields.map(([name, member]) => [name, { type: String(typeOf(recordOf(member)) ?? "any") }]);
  const required = Array.isArray(own.required) ? own.required.map(String) : [];
  return signature({ type: "object", properties: Object.fromEntries(plain), required }).slice(0, formMax);
}

function described(own: Own, values?: readonly unknown[]): { description?: string } {
  const parts = [
    typeof own.description === "string" ? own.description.slice(0, descriptionMax).toWellFormed() : "",
    values === undefined ? "" : forModels.oneOfValues(JSON.stringify(values).slice(0, descriptionMax)),
    own.default === undefined || own.default === null ? "" : forModels.defaultValue(shortJson(own.default)),
  ];
  const description = parts.filter(Boolean).join(" ");
  return description === "" ? {} : { description };
}

const defaultMax = 60;

function shortJson(value: unknown): string {
  return (JSON.stringify(value) ?? "").slice(0, defaultMax);
}

function without(own: Own, ...words: string[]): Own {
  return Object.fromEntries(Object.entries(own).filter(([word]) => !words.includes(word)));
}
