import { failed, ok, type Result } from "../base/result.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";
import { forOperators } from "../words/words.ts";
import { at, follow, isJson, type Json, shown, stepsOf, textOf } from "./document.ts";
import { cleanName, freeName } from "./names.ts";
import type { Operation, Parameter } from "./records.ts";

export type Arguments = Pick<Operation, "parameters" | "body" | "schema">;
type Unfit = Failure<"operation_unfit">;
type Written = { readonly path: string; readonly shared: unknown; readonly own: Json };

/** More fields than these are one argument that holds JSON: models lose their way in long lists. */
const fieldsMax = 20;
const parametersMax = 60;
/** Of the schema with all that it refers to; a larger body is described by the names of its fields. */
const schemaBytesMax = 48 * 1024;

/** All that an operation wants to know, as one flat list of arguments. */
export function readArguments(document: Json, written: Written): Result<Arguments, Unfit> {
  const found = readParameters(document, written);
  if (!found.ok) return found;
  const content = readBody(document, written.own.requestBody);
  if (!content.ok) return content;
  const taken = new Set<string>();
  const properties: Record<string, unknown> = {};
  const required: string[] = [];
  const parameters: Parameter[] = [];
  for (const { schema, isRequired, ...rest } of found.value) {
    const as = freeName(cleanName(rest.name) || rest.in, taken);
    properties[as] = schema;
    if (isRequired) required.push(as);
    parameters.push({ as, ...rest });
  }
  const body = content.value && addBody(document, content.value, { taken, properties, required });
  const schema = withReferences(document, { type: "object", properties, required });
  if (schema !== undefined && byteLength(schema) <= schemaBytesMax) return ok({ parameters, body, schema });
  const plain = plainer({ type: "object", properties, required });
  return byteLength(plain) > schemaBytesMax ? unfit("too_large") : ok({ parameters, body, schema: plain });
}

type Found = Omit<Parameter, "as"> & { readonly schema: unknown; readonly isRequired: boolean };

function readParameters(document: Json, { path, shared, own }: Written): Result<Found[], Unfit> {
  const byPlace = new Map<string, Found>();
  for (const written of [...listOf(shared), ...listOf(own.parameters)]) {
    const parameter = follow(document, written);
    if (parameter === undefined) return unfit("reference", { said: shown(isJson(written) ? written.$ref : written) });
    const name = textOf(parameter.name);
    const where = placeOf(parameter.in);
    if (name === "" || where === undefined) return unfit("parameter", { said: shown(parameter.name) });
    // Says who is calling, or how the message is written: that is ours.
    if (where === "header" && /^(accept|content-type|authorization)$/i.test(name)) continue;
    byPlace.set(`${where} ${name}`, toFound(parameter, name, where));
  }
  if (byPlace.size > parametersMax) return unfit("too_large");
  const inPath = [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => name);
  const missing = inPath.find((name) => !byPlace.has(`path ${name}`));
  if (missing !== undefined) return unfit("path_parameter", { said: shown(missing) });
  return ok([...byPlace.values()].filter((one) => one.in !== "path" || inPath.includes(one.name)));
}

function placeOf(written: unknown): Parameter["in"] | undefined {
  return written === "path" || written === "query" || written === "header" || written === "cookie"
    ? written
    : undefined;
}

const styles: Readonly<Record<string, Parameter["style"]>> = {
  spaceDelimited: "spaced",
  pipeDelimited: "piped",
  deepObject: "deep",
};

function toFound(parameter: Json, name: string, where: Parameter["in"]): Found {
  const style = styles[textOf(parameter.style)] ?? "plain";
  const usual = where === "query" || where === "cookie";
  const [content] = isJson(parameter.content) ? Object.values(parameter.content) : [];
  const schema = parameter.schema ?? (isJson(content) ? content.schema : undefined);
  return {
    name,
    in: where,
    style,
    isExploded: typeof parameter.explode === "boolean" ? parameter.explode : usual && style === "plain",
    isRequired: where === "path" || parameter.required === true,
    schema: described(isJson(schema) ? schema : { type: "string" }, textOf(parameter.description)),
  };
}

/** What is said beside a schema, or beside a reference to one, is said in it. */
function described(schema: Json, description: string): Json {
  return description === "" ? schema : { ...schema, description };
}

type Content = {
  readonly kind: "json" | "form";
  readonly schema: Json;
  readonly isRequired: boolean;
  readonly description: string;
};

function readBody(document: Json, written: unknown): Result<Content | undefined, Unfit> {
  if (written === undefined) return ok(undefined);
  const body = follow(document, written);
  if (body === undefined) return unfit("reference", { said: shown(isJson(written) ? written.$ref : written) });
  const contents = Object.entries(isJson(body.content) ? body.content : {});
  const isRequired = body.required === true;
  for (const [kind, form] of [
    ["json", jsonType],
    ["form", formType],
  ] as const) {
    const [, found] = contents.find(([type]) => form.test(type)) ?? [];
    if (found === undefined) continue;
    const schema = isJson(found) && isJson(found.schema) ? found.schema : {};
    return ok({ kind, schema, isRequired, description: textOf(body.description) });
  }
  const types = contents.map(([type]) => type).join(", ");
  return isRequired ? unfit("content", { said: shown(types) }) : ok(undefined);
}

const jsonType = /^application\/(?:[\w.-]+\+)?json\b|^\*\/\*|^application\/\*/i;
const formType = /^application\/x-www-form-urlencoded\b/i;

type Adding = {
  readonly taken: Set<string>;
  readonly properties: Record<string, unknown>;
  readonly required: string[];
};

/** Each field is an argument, where they are few; otherwise all of it is one. */
function addBody(
  document: Json,
  { kind, schema, isRequired, description }: Content,
  adding: Adding,
): Operation["body"] {
  const shape = shapeOf(document, schema);
  const names = Object.keys(shape?.properties ?? {});
  const isFlat = shape !== undefined && names.length > 0 && (names.length <= fieldsMax || kind === "form");
  if (!isFlat) {
    const whole = freeName("body", adding.taken);
    adding.properties[whole] = described(schema, description);
    if (isRequired) adding.required.push(whole);
    return { kind, whole, fields: {} };
  }
  const fields: Record<string, string> = {};
  for (const name of names) {
    const as = freeName(cleanName(name) || "field", adding.taken);
    fields[as] = name;
    adding.properties[as] = shape.properties[name];
    if (isRequired && shape.required.includes(name)) adding.required.push(as);
  }
  return { kind, fields };
}

/** The fields that a schema names, by name; none where it may be something else than an object. */
export function fieldsIn(document: Json, written: unknown): Json {
  return shapeOf(document, written)?.properties ?? {};
}

type Shape = { readonly properties: Json; readonly required: readonly string[] };

/** The fields of an object, put together from all parts of an `allOf`; undefined where it may be something else. */
function shapeOf(document: Json, written: unknown, budget = { partsLeft: partsMax }, depth = 0): Shape | undefined {
  const schema = follow(document, written);
  if (schema === undefined || depth > partsDeepMax || schema.oneOf !== undefined || schema.anyOf !== undefined)
    return undefined;
  if (schema.type !== undefined && schema.type !== "object") return undefined;
  const own = isJson(schema.properties) ? schema.properties : {};
  const ownRequired = listOf(schema.required).filter((name) => typeof name === "string");
  budget.partsLeft -= 1 + Object.keys(own).length + listOf(schema.required).length;
  if (budget.partsLeft < 0) return undefined;
  const parts: Shape[] = [];
  for (const part of listOf(schema.allOf)) {
    const shape = shapeOf(document, part, budget, depth + 1);
    if (shape === undefined) return undefined;
    parts.push(shape);
  }
  const all = Object.assign({}, ...parts.map((part) => part.properties), own);
  // What only the service sets is nothing to ask a model for.
  const properties = Object.fromEntries(
    Object.entries(all).filter(([, one]) => !(isJson(one) && one.readOnly === true)),
  );
  return { properties, required: [...parts.flatMap((part) => part.required), ...ownRequired] };
}

const partsDeepMax = 8;
/** Parts, fields and required names, counted anew wherever they are referred to: two lines can refer to millions. */
export const partsMax = 500;

/** No schema of so many values is small enough, so they are not counted to the end. */
const valuesMax = 6_000;

/**
 * The schema together with what its references lead to, at the same places: it stands for itself then. Undefined where
 * that is far too much.
 */
function withReferences(document: Json, schema: Json): Record<string, unknown> | undefined {
  const made: Record<string, unknown> = { ...schema };
  const open: unknown[] = [schema];
  const seen = new Set<string>();
  const own = new Map<unknown, Record<string, unknown>>();
  let count = 0;
  for (let next = open.pop(); open.length > 0 || next !== undefined; next = open.pop()) {
    count += 1;
    if (count > valuesMax) return undefined;
    if (!isJson(next)) continue;
    if (typeof next.$ref === "string" && !seen.has(next.$ref)) {
      seen.add(next.$ref);
      const target = at(document, next.$ref);
      if (target !== undefined) place(made, own, { steps: stepsOf(next.$ref) ?? [], target });
      open.push(target);
    }
    for (const inner of Object.values(next)) open.push(inner);
  }
  return made;
}

/** `own`: the objects on the way that were made here; each is made once, for there may be hundreds of references. */
function place(
  made: Record<string, unknown>,
  own: Map<unknown, Record<string, unknown>>,
  { steps, target }: { readonly steps: readonly string[]; readonly target: unknown },
): void {
  let inside = made;
  for (const step of steps.slice(0, -1)) {
    const next = Object.hasOwn(inside, step) ? inside[step] : undefined;
    const copy = own.get(next) ?? (isJson(next) ? { ...next } : {});
    own.set(copy, copy);
    inside[step] = copy;
    inside = copy;
  }
  const last = steps.at(-1);
  if (last !== undefined && !Object.hasOwn(inside, last)) inside[last] = target;
}

/** Each argument by its type, and what is an object or a list by the names in it. */
function plainer({
  properties,
  required,
}: {
  readonly type: string;
  readonly properties: Json;
  readonly required: string[];
}) {
  const plain = Object.entries(properties).map(([name, schema]): [string, unknown] => {
    const { type, description, properties: inner } = isJson(schema) ? schema : {};
    const names = isJson(inner) ? Object.keys(inner).slice(0, namesShownMax) : [];
    const said = [textOf(description).slice(0, descriptionMax), names.length === 0 ? "" : forOperators.fields(names)];
    return [name, { ...(isPlain(type) && { type }), description: said.filter(Boolean).join(" ") }];
  });
  return { type: "object", properties: Object.fromEntries(plain), required };
}

const namesShownMax = 60;
const descriptionMax = 200;

function isPlain(type: unknown): boolean {
  return type === "string" || type === "integer" || type === "number" || type === "boolean";
}

function byteLength(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function unfit(
  why: Failure<"operation_unfit">["params"]["why"],
  more: { readonly said?: string; readonly limit?: number } = {},
): { readonly ok: false; readonly failure: Failure<"operation_unfit"> } {
  return failed(makeFailure("operation_unfit", { why, ...more }));
}
