import { forModels } from "../words/words.ts";
import { isExact, readPlain, unpacked } from "./arguments.ts";
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
const typeMax = 40;
const defaultMax = 60;
const namesMax = 100;
const branchesMax = 200;
/**
 * Fields, items, parts and values to choose from, counted anew wherever they are referred to: a few lines can refer to
 * millions. A long name, value or description counts as several.
 */
export const nodesMax = 2_000;
const nodeCharacters = 100;

/**
 * The common part of JSON schema that all families take (`plainSchema` demands it of our own tools), made from whatever
 * others wrote. What that part cannot say becomes a string that holds JSON, with its form in the description.
 */
export function foreignSchema(source: unknown): ForeignSchema {
  const place: Place = { root: source, depth: 0, references: 0, budget: { nodesLeft: nodesMax }, fields: new Map() };
  const lowered = lower(source, place);
  return lowered.schema.type === "object" ? lowered : objectOf({}, place);
}

type Place = {
  readonly root: unknown;
  readonly depth: number;
  readonly references: number;
  /** One for the whole schema. */
  readonly budget: { nodesLeft: number };
  /** The fields of objects that were looked at before: many may refer to a large one. */
  readonly fields: Map<unknown, readonly Field[]>;
};
type Field = readonly [name: string, member: unknown];

/** Once there is too little left, nothing is left: what comes after need not be looked at. */
function take({ budget }: Place, nodes: number): boolean {
  const isThere = nodes <= budget.nodesLeft;
  budget.nodesLeft = isThere ? budget.nodesLeft - nodes : 0;
  return isThere;
}

function nodesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + 1 + Math.floor(text.length / nodeCharacters), 0);
}

function lower(source: unknown, place: Place): ForeignSchema {
  const { own, place: here } = resolved(wordsOf(source), place);
  const branches = branchesOf(own);
  if (branches !== undefined) {
    const [only, ...others] = branches;
    if (only !== undefined && others.length === 0) return lower({ ...without(own, "anyOf", "oneOf"), ...only }, here);
    return enumOf(own, branches, here) ?? openValue(own, here);
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
      return plainValue(own, here);
    default:
      return openValue(own, here);
  }
}

/** What a reference stands for, and what all parts of an `allOf` say together. */
function resolved(own: Own, place: Place): { own: Own; place: Place } {
  if (place.references > referencesMax) return { own: { description: own.description }, place };
  const deeper = { ...place, references: place.references + 1 };
  if (typeof own.$ref === "string") {
    const target = wordsOf(lookedUp(place.root, own.$ref));
    return resolved({ ...target, ...without(own, "$ref") }, deeper);
  }
  if (!Array.isArray(own.allOf)) return { own, place };
  const unsaid = { own: { description: own.description }, place };
  if (!take(place, own.allOf.length)) return unsaid;
  const parts = own.allOf.map((part) => resolved(wordsOf(part), deeper).own);
  const all = [...parts, without(own, "allOf")];
  const fields = all.flatMap((part) => fieldsOf(part, place));
  if (!take(place, fields.length)) return unsaid;
  const required = all.flatMap(requiredOf);
  const merged: Own = Object.assign({}, ...all);
  const together = { ...merged, properties: Object.fromEntries(fields), required };
  return { own: fields.length === 0 ? merged : together, place: deeper };
}

type Own = Readonly<Record<string, unknown>>;

const words = "$ref allOf anyOf oneOf type properties required items enum const description default".split(" ");

/** What is looked at, however much else there is. */
function wordsOf(source: unknown): Own {
  const said = recordOf(source);
  return Object.fromEntries(words.filter((word) => Object.hasOwn(said, word)).map((word) => [word, said[word]]));
}

function fieldsOf({ properties }: Own, { fields }: Place): readonly Field[] {
  const found = fields.get(properties) ?? Object.entries(recordOf(properties)).slice(0, namesMax);
  fields.set(properties, found);
  return found;
}

function requiredOf({ required }: Own): string[] {
  const names: unknown[] = Array.isArray(required) ? required.slice(0, namesMax) : [];
  return names.filter((name) => typeof name === "string");
}

function lookedUp(root: unknown, reference: string): unknown {
  if (!reference.startsWith("#")) return undefined;
  const steps = reference.slice(1).split("/").slice(1);
  return steps.reduce((inside: unknown, step) => {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    return isRecord(inside) && Object.hasOwn(inside, key) ? inside[key] : undefined;
  }, root);
}

/** The alternatives without null, which only says that something may be left out; none where they are very many. */
function branchesOf(own: Own): Own[] | undefined {
  const listed = [own.anyOf, own.oneOf].find((list) => Array.isArray(list));
  const types = Array.isArray(own.type) ? own.type : undefined;
  if ((listed ?? types ?? []).length > branchesMax) return [];
  const branches = listed?.map(recordOf) ?? types?.map((type) => ({ type }));
  return branches?.filter(({ type }) => type !== "null");
}

/** Alternatives that are all texts to choose from are one list of texts. */
function enumOf(own: Own, branches: readonly Own[], place: Place): ForeignSchema | undefined {
  const values = branches.flatMap((branch) => textsIn(branch) ?? []);
  const isAll = branches.length > 0 && branches.every((branch) => textsIn(branch) !== undefined);
  return isAll ? plainValue({ ...without(own, "anyOf", "oneOf"), type: "string", enum: values }, place) : undefined;
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
  const members = fieldsOf(own, place);
  if (place.depth > depthMax || !take(place, nodesOf(members.map(([name]) => name)))) return openValue(own, place);
  const lowered = new Map(
    members.map(([name, member]) => [name, lower(member, { ...place, depth: place.depth + 1 })] as const),
  );
  const required = requiredOf(own).filter((name) => lowered.has(name));
  const schema: JsonSchema = {
    type: "object",
    ...described(own, place),
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
  if (!isRecord(own.items) || !take(place, 1)) return openValue(own, place);
  const items = lower(own.items, { ...place, depth: place.depth + 1 });
  return {
    schema: { type: "array", ...described(own, place), items: items.schema },
    read(raw) {
      const list = unpacked(raw);
      return (Array.isArray(list) ? list : [raw]).map((value) => items.read(value));
    },
  };
}

function plainValue(own: Own, place: Place): ForeignSchema {
  const type = String(typeOf(own));
  const texts = type === "string" && place.budget.nodesLeft > 0 ? textsIn(own) : undefined;
  const isShown = texts !== undefined && take(place, nodesOf(texts));
  const values = Array.isArray(own.enum) && !isShown ? own.enum : undefined;
  const schema: JsonSchema = { type, ...described(own, place, values), ...(isShown ? { enum: texts } : {}) };
  return { schema, read: (raw) => readPlain(schema, raw) };
}

/** Anything else is written as JSON. A text that is no JSON is a text: it may be one of the things that are allowed. */
function openValue(own: Own, place: Place): ForeignSchema {
  const form = forModels.jsonAsText(formOf(own, place));
  const { description = form } = described(own, place, undefined, form);
  return {
    schema: { type: "string", description },
    read(raw) {
      const json = unpacked(raw);
      return typeof raw === "string" && typeof json === "number" && !isExact(raw) ? raw : json;
    },
  };
}

function formOf(own: Own, place: Place): string {
  const isKnown = place.references <= referencesMax && isRecord(own.properties) && place.budget.nodesLeft > 0;
  if (!isKnown) return typeof own.type === "string" ? own.type.slice(0, typeMax) : "";
  const plain = fieldsOf(own, place).map(([name, member]) => [
    name,
    { type: String(typeOf(recordOf(member)) ?? "any") },
  ]);
  const properties = Object.fromEntries(plain);
  return signature({ type: "object", properties, required: requiredOf(own) }).slice(0, formMax);
}

function described(own: Own, place: Place, values?: readonly unknown[], form = ""): { description?: string } {
  if (place.budget.nodesLeft === 0) return {};
  const parts = [
    typeof own.description === "string" ? own.description.slice(0, descriptionMax).toWellFormed() : "",
    values === undefined ? "" : forModels.oneOfValues(shortJson(values, descriptionMax, place)),
    own.default === undefined || own.default === null
      ? ""
      : forModels.defaultValue(shortJson(own.default, defaultMax, place)),
    form,
  ];
  const description = parts.filter(Boolean).join(" ");
  return description !== "" && take(place, Math.floor(description.length / nodeCharacters)) ? { description } : {};
}

/** All of it counts, because all of it is written before it is cut. */
function shortJson(value: unknown, charactersMax: number, place: Place): string {
  const json = JSON.stringify(value) ?? "";
  return take(place, Math.floor(json.length / nodeCharacters)) ? json.slice(0, charactersMax) : "";
}

function without(own: Own, ...words: string[]): Own {
  return Object.fromEntries(Object.entries(own).filter(([word]) => !words.includes(word)));
}
