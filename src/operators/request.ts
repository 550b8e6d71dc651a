import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { isJson, type Json, shown } from "./document.ts";
import { fieldsIn } from "./operation-arguments.ts";
import type { Fixed, Operation, Parameter } from "./records.ts";

/** What is to be sent, by where it goes: as callers of the proxy write it, and as a model's arguments are sorted. */
export type Envelope = {
  readonly path: Json;
  readonly query: Json;
  readonly header: Json;
  readonly cookie: Json;
  readonly body: unknown;
};

/** A request without anything secret in it yet. */
export type Outgoing = {
  readonly method: string;
  readonly url: URL;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
};

type Unfit = Failure<"bad_request">;

/** Sorts the arguments of a model by where they go. */
export function sorted(operation: Operation, given: Json): Envelope {
  const parts: Record<Parameter["in"], Record<string, unknown>> = { path: {}, query: {}, header: {}, cookie: {} };
  for (const { as, name, in: where } of operation.parameters) {
    if (given[as] !== undefined) parts[where][name] = given[as];
  }
  return { ...parts, body: bodyOf(operation.body, given) };
}

function bodyOf(body: Operation["body"], given: Json): unknown {
  if (body === undefined) return undefined;
  if (body.whole !== undefined) return given[body.whole];
  const fields = Object.entries(body.fields).filter(([as]) => given[as] !== undefined);
  return fields.length === 0 ? undefined : Object.fromEntries(fields.map(([as, name]) => [name, given[as]]));
}

/** What the operation itself has: others than its owner get no more of a service, with the owner's credential, than the box says. */
export function declaredOnly(operation: Operation, envelope: Envelope): Envelope {
  const kept = (where: Parameter["in"]) => {
    const entries = Object.entries(envelope[where]).flatMap(([name, value]): [string, unknown][] => {
      const isMeant = (one: Parameter) => one.in === where && sameName(where, one.name, name);
      const parameter = operation.parameters.find(isMeant);
      if (parameter === undefined) return [];
      const isSpread = where === "query" && parameter.isExploded && parameter.style !== "deep";
      return [[name, isSpread ? declaredFields(operation, parameter.as, value) : value]];
    });
    return Object.fromEntries(entries);
  };
  const body = declaredBody(operation, envelope.body);
  return { ...envelope, query: kept("query"), header: kept("header"), cookie: kept("cookie"), body };
}

/** The fields of an object that is written field by field stand beside all others, each under a name of its own. */
function declaredFields({ schema }: Operation, as: string, value: unknown): unknown {
  if (!isJson(value) || Array.isArray(value)) return value;
  const declared = fieldsIn(schema, isJson(schema.properties) ? schema.properties[as] : undefined);
  return Object.fromEntries(Object.entries(value).filter(([name]) => Object.hasOwn(declared, name)));
}

/** A body that is one argument is as free for others as for a model. */
function declaredBody(operation: Operation, given: unknown): unknown {
  const { body } = operation;
  if (body === undefined) return undefined;
  if (body.whole !== undefined) return given;
  if (!isJson(given) || Array.isArray(given)) return undefined;
  const fields = Object.entries(body.fields).filter(([, name]) => Object.hasOwn(given, name));
  const kept = (as: string, value: unknown) => (body.kind === "form" ? declaredFields(operation, as, value) : value);
  return Object.fromEntries(fields.map(([as, name]) => [name, kept(as, given[name])]));
}

/** A header is the same in every case. */
function sameName(where: Parameter["in"], one: string, other: string): boolean {
  return where === "header" ? one.toLowerCase() === other.toLowerCase() : one === other;
}

/** The request of a tool, with what is always sent. Nothing of it leads elsewhere than the path of its operation. */
export function requestOf(
  {
    server,
    operation,
    fixed,
  }: { readonly server: string; readonly operation: Operation; readonly fixed: readonly Fixed[] },
  envelope: Envelope,
): Result<Outgoing, Unfit> {
  const wanted = withFixed(envelope, fixed);
  const path = pathOf(operation, wanted.path);
  if (!path.ok) return path;
  const url = new URL(server + path.value);
  addAll(url.searchParams, wanted.query, { always: namesIn(fixed, "query"), styleOf: styleIn(operation) });
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(wanted.header)) {
    if (!isOwnHeader(name)) continue;
    const text = writtenPlain(value, ",");
    if (!isHeaderName.test(name) || !isHeaderValue.test(text)) return unfit(`header.${shown(name)}`);
    headers[name.toLowerCase()] = text;
  }
  const cookies = Object.entries(wanted.cookie).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(writtenPlain(value, ","))}`,
  );
  if (cookies.length > 0) headers.cookie = cookies.join("; ");
  const body = contentOf(operation, wanted.body, namesIn(fixed, "body"));
  if (body !== undefined) headers["content-type"] = body.type;
  return ok({ method: operation.method.toUpperCase(), url, headers, body: body?.text });
}

function unfit(what: string) {
  return failure("bad_request", { what });
}

function withFixed(envelope: Envelope, fixed: readonly Fixed[]): Envelope {
  const parts = { ...envelope };
  for (const { name, in: where, value } of fixed) {
    const before = where === "body" && Array.isArray(parts.body) ? {} : parts[where];
    const given = isJson(before) ? before : {};
    parts[where] = { ...(where === "header" ? withoutHeader(given, name) : given), [name]: value };
  }
  return parts;
}

/** A header is the same in every case. */
function withoutHeader(headers: Json, name: string): Json {
  const isOther = ([given]: [string, unknown]) => given.toLowerCase() !== name.toLowerCase();
  return Object.fromEntries(Object.entries(headers).filter(isOther));
}

/** `..` would lead to another operation than the one that was permitted, and an empty part to the one above it. */
function pathOf({ path }: Operation, values: Json): Result<string, Unfit> {
  let missing: string | undefined;
  const filled = path.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => {
    const text = Object.hasOwn(values, name) ? writtenPlain(values[name], ",") : "";
    if (text === "" || /^\.{1,2}$/.test(text)) missing ??= name;
    return encodeURIComponent(text.toWellFormed());
  });
  return missing === undefined ? ok(filled) : unfit(`path.${shown(missing)}`);
}

function namesIn(fixed: readonly Fixed[], where: Fixed["in"]): string[] {
  return fixed.filter((one) => one.in === where).map(({ name }) => name);
}

type Styled = Pick<Parameter, "name" | "style" | "isExploded">;

function styleIn({ parameters }: Operation): (name: string) => Styled {
  return (name) => parameters.find((one) => one.in === "query" && one.name === name) ?? usualStyle(name);
}

function usualStyle(name: string): Styled {
  return { name, style: "plain", isExploded: true };
}

/** What is always sent comes last: the fields of an object that is written field by field may have the same names. */
function addAll(
  query: URLSearchParams,
  values: Json,
  { always, styleOf }: { readonly always: readonly string[]; readonly styleOf: (name: string) => Styled },
): void {
  for (const [name, value] of Object.entries(values)) if (!always.includes(name)) addQuery(query, styleOf(name), value);
  for (const name of always) query.delete(name);
  for (const name of new Set(always)) addQuery(query, styleOf(name), values[name]);
}

const separators = { plain: ",", spaced: " ", piped: "|", deep: "," } as const;

function addQuery(query: URLSearchParams, { name, style, isExploded }: Styled, value: unknown): void {
  if (value === undefined || value === null) return;
  if (Array.isArray(value) && isExploded) {
    for (const one of value) query.append(name, writtenPlain(one, ","));
  } else if (isJson(value) && !Array.isArray(value) && (style === "deep" || isExploded)) {
    for (const [key, one] of Object.entries(value))
      query.append(style === "deep" ? `${name}[${key}]` : key, writtenPlain(one, ","));
  } else query.append(name, writtenPlain(value, separators[style]));
}

/** Lists by their items, objects as names and values in turn, as OpenAPI has it; what is deeper as JSON. */
function writtenPlain(value: unknown, separator: string): string {
  if (Array.isArray(value)) return value.map(one).join(separator);
  if (isJson(value))
    return Object.entries(value)
      .flatMap(([key, inner]) => [key, one(inner)])
      .join(separator);
  return one(value);
}

function one(value: unknown): string {
  if (typeof value === "string") return value.toWellFormed();
  return value === undefined || value === null ? "" : (JSON.stringify(value) ?? "");
}

const isHeaderName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const isHeaderValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** What says where the message goes and how it is cut is never a caller's. */
function isOwnHeader(name: string): boolean {
  return !/^(host|connection|keep-alive|content-length|content-type|transfer-encoding|te|trailer|upgrade|expect|cookie|proxy-.*|accept-encoding)$/i.test(
    name,
  );
}

function contentOf(
  { body }: Operation,
  value: unknown,
  always: readonly string[],
): { readonly type: string; readonly text: string } | undefined {
  if (value === undefined) return undefined;
  if (body?.kind !== "form") return { type: "application/json", text: JSON.stringify(value) ?? "null" };
  const form = new URLSearchParams();
  addAll(form, isJson(value) ? value : {}, { always, styleOf: usualStyle });
  return { type: "application/x-www-form-urlencoded", text: form.toString() };
}
