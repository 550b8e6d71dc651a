import { z } from "zod";
import type { Route } from "../../src/protocol/route.ts";
import type { RouteName } from "../../src/protocol/routes.ts";
import type { Chance } from "./fuzz-chance.ts";
import type { Schema } from "./json-schema.ts";
import type { Sending } from "./raw-http.ts";

// Requests for the rows of the route table: what their schemas say, or something near it, or nothing of the kind.

/** A value for a field of this name, where somebody knows a better one than the schema can tell. */
type Known = (field: string) => unknown;
type Fitting = { readonly chance: Chance; readonly known: Known; readonly root: Schema; readonly depth: number };

const schemas = new WeakMap<z.ZodType, Schema>();

/** Query and path are texts that become what the schema says; a body is what it says. */
function schemaOf(schema: z.ZodType, io: "input" | "output" = "input"): Schema {
  const made =
    schemas.get(schema) ?? JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io, unrepresentable: "any" })));
  schemas.set(schema, made);
  return made;
}

const resolved = (schema: Schema, { root }: Pick<Fitting, "root">): Schema =>
  schema.$ref === undefined ? schema : (root.$defs?.[schema.$ref.split("/").at(-1) ?? ""] ?? {});
const choicesOf = ({ anyOf, oneOf, allOf }: Schema) => anyOf ?? oneOf ?? allOf;

function fit(given: Schema, place: Fitting): unknown {
  const { chance, depth } = place;
  const schema = resolved(given, place);
  const { enum: words, minItems = 0, maxItems = 1_000 } = schema;
  if (schema.const !== undefined) return schema.const;
  if (words !== undefined) return chance.pick(words);
  const choices = choicesOf(schema);
  if (choices !== undefined) return fit(chance.pick(choices), place);
  switch (typeof schema.type === "object" ? chance.pick(schema.type) : schema.type) {
    case "object":
      return fitObject(schema, place);
    case "array": {
      const length = chance.int(minItems, Math.min(maxItems, minItems + (depth > 3 ? 1 : 3)));
      return Array.from({ length }, () => fit(schema.items ?? {}, { ...place, depth: depth + 1 }));
    }
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
      return depth > 3 ? null : chance.pick<unknown>(["x", 1, true, null, [1, "a"], { a: { b: [null] } }]);
  }
}

/** Without one of these nothing is said. */
const telling = ["query", "text", "input", "content", "conversation_id", "name"];

/** With few of the fields that may be left out most calls mean something; with many they contradict themselves. */
function fitObject({ properties = {}, required = [], additionalProperties }: Schema, place: Fitting): object {
  const { chance, known, depth } = place;
  const inner = { ...place, depth: depth + 1 };
  const share = chance.pick([0, 0.1, 0.5]);
  const fields = Object.entries(properties)
    .filter(([name]) => required.includes(name) || chance.odds(telling.includes(name) ? 0.9 : share))
    .map(([name, schema]): [string, unknown] => {
      const better = chance.odds(0.9) ? known(name) : undefined;
      return [name, better !== undefined && mayBe(schema, better, place) ? better : fit(schema, inner)];
    });
  if (typeof additionalProperties === "object" && depth < 4)
    for (const name of chance.shuffled(["a", "B_2", "name"]).slice(chance.int(0, 3)))
      fields.push([name, fit(additionalProperties, inner)]);
  return Object.fromEntries(fields);
}

/** Whether a field takes this kind of value at all: one name means different things in different calls. */
function mayBe(given: Schema, value: unknown, place: Fitting): boolean {
  const schema = resolved(given, place);
  const choices = choicesOf(schema);
  if (choices !== undefined) return choices.some((choice) => mayBe(choice, value, place));
  if (schema.const !== undefined || schema.enum !== undefined)
    return [schema.const, ...(schema.enum ?? [])].includes(value);
  const kind = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  const types = [schema.type ?? kind].flat();
  return types.includes(kind) || (kind === "number" && types.includes("integer"));
}

/** The ends of the range as often as what is between them. */
function fitNumber(schema: Schema, chance: Chance): number {
  const min = Math.ceil(schema.minimum ?? (schema.exclusiveMinimum ?? -1_000.5) + 0.5);
  const max = Math.floor(schema.maximum ?? (schema.exclusiveMaximum ?? min + 1_000.5) - 0.5);
  return chance.pick([min, max, Math.min(max, min + chance.int(0, 20))]);
}

/** Texts that stand in one line. */
const each = (texts: string) => texts.split("¦");
const samples = each("x¦a1¦1Mi¦512Mi¦tus-00¦1.2¦42¦A_B¦https://a.invalid/simple¦left-pad¦0");

function fitText({ minLength = 0, maxLength = 5_000, pattern, format }: Schema, chance: Chance): string {
  if (format === "uri") return "https://a.invalid/simple";
  if (pattern !== undefined) return samples.find((sample) => new RegExp(pattern, "u").test(sample)) ?? "x";
  const texts = [...each("x¦hello there¦你好，世界¦🙂 a\u0301¦a\nb\tc¦  "), "x".repeat(Math.min(maxLength, 400))];
  return chance.pick(texts).slice(0, maxLength).padEnd(minLength, "x");
}

/** Stands in a body for brackets within brackets; no program can make JSON text of so many by itself. */
const deepMark = "@deep@";
const posing = JSON.parse('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"x":1}},"toString":1,"then":"x"}');

/** What a field of any kind has to stand. */
export const trials: readonly unknown[] = [
  ...[deepMark, posing, null, [], {}, true, -1, 0, 2 ** 53, 1e308, "", "\u0000", "\ud800", "../../x"],
  "x".repeat(300_000),
];
const oddTexts = [
  ...each("¦ ¦\t\r\n¦0¦-1¦1e999¦NaN¦null¦undefined¦[object Object]¦99999999999999999999¦\u0000¦a\u0000b¦\ud800¦\ufeff"),
  ...each("\u202e\u2066¦🙂¦ﷺ¦İ¦..¦.¦/¦//¦../../x¦..\\..\\x¦/etc/passwd¦/workspace/../../x¦~/x¦C:\\x¦file:///x¦a\nb"),
  ...each(
    "uploads/../../../x¦uploads/\u0000¦.metadata.json¦./.¦con¦%2e%2e%2f¦%00¦' OR 1=1 --¦%_%¦${7*7}¦{{7*7}}¦$(id)",
  ),
  ...each("<script>alert(1)</script>¦\r\nset-cookie: a=b¦*¦sess-agent-default¦sb-session-ann¦sess-bob¦agent_main¦ann"),
  ...each("__proto__¦constructor¦bob¦local"),
  ...[...'a界🙂\u0000"\\'].flatMap((one) => [300, 70_000].map((times) => one.repeat(times))),
];
const oddValues: readonly unknown[] = [
  ...[...trials, ...oddTexts, 1.5, -0.1, 1e21, 2 ** 31, -(2 ** 31), 2 ** 63, false, [[]], [null], { id: "x" }],
  Array.from({ length: 11_000 }, () => "x"),
];

/** Where a body can say something, as names from the outside in; a list has its first item. */
export function placesIn(schema: z.ZodType): string[][] {
  const below = (inner: Schema, path: readonly string[]): string[][] => {
    if (path.length > 3) return [];
    const choices = [inner, ...(inner.anyOf ?? []), ...(inner.oneOf ?? [])];
    const fields = choices.flatMap(({ properties = {} }) => Object.entries(properties));
    const items = choices.flatMap(({ items: one }) => (one === undefined ? [] : [["0", one] as const]));
    return [...fields, ...items].flatMap(([name, one]) => [[...path, name], ...below(one, [...path, name])]);
  };
  return [...new Map(below(schemaOf(schema), []).map((path) => [path.join("."), path])).values()];
}

/** The value with something else in one place. */
function withAt(value: unknown, [name, ...rest]: readonly string[], put: unknown): unknown {
  if (name === undefined) return put;
  if (name === "0") return [withAt(Array.isArray(value) ? value[0] : undefined, rest, put)];
  const { [name]: before, ...others } = Object(value);
  return { ...others, [name]: withAt(before, rest, put) };
}

/** JSON text with what no JSON.stringify could make. */
function jsonText(value: unknown, chance: Chance): string {
  return (JSON.stringify(value) ?? "").replaceAll(`"${deepMark}"`, () => {
    const depth = chance.pick([20, 250, 3_000, 60_000]);
    return chance.odds(0.5) ? "[".repeat(depth) + "]".repeat(depth) : `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
  });
}

/** Headers that nobody has to send, mostly with what nobody should say in them. */
const headers: readonly (readonly [name: string, values: string])[] = [
  [
    "range",
    `bytes=0-¦bytes=-1¦bytes=9-1¦bytes=99999999999999999999-¦bytes=0-0,1-1¦x¦bytes=-¦bytes=${"0-0,".repeat(999)}1-1`,
  ],
  ["if-range", '"x"¦¦Sun, 06 Nov 1994 08:49:37 GMT¦W/'],
  ["if-none-match", `*¦"x"¦${"x".repeat(9_000)}`],
  ["accept-language", `zh¦en¦;;q=,¦*¦q=1;zh;q=nan¦${"zh,".repeat(3_000)}`],
  ["x-language", "zh¦__proto__¦"],
  ["accept", "text/html¦*/*¦text/event-stream¦application/xml;q=nan¦"],
  ["accept-encoding", "gzip¦br¦x¦identity;q=0¦*;q=0"],
  ["content-encoding", "gzip¦br¦x"],
  ["x-request-id", `r¦¦{}¦a\tb¦../x¦${"r".repeat(65)}`],
  ["x-account-id", `ann¦bob¦¦a b¦__proto__¦..¦local¦${"x".repeat(49)}`],
  ["last-event-id", "1¦-1¦1.5¦99999999999999999999¦x¦¦0x10¦٣¦1~1.1.1.t1¦1~¦,:¦1,a:1,b:2¦1~1.1.1.r1t999999999999999"],
  ["authorization", `Bearer¦Bearer ¦Basic eDp5¦Bearer a b¦bearer x¦Bearer \u00e9¦Digest¦Bearer ${"x".repeat(9_000)}`],
  ["x-api-key", "¦x¦\u00e9"],
  ["cookie", "agentyard=¦agentyard=x; agentyard=y¦;;;=¦__Host-agentyard=x¦a=%zz"],
  ["origin", "null¦http://other.invalid¦http://127.0.0.1¦x¦¦http://[::1"],
  ["sec-fetch-site", "cross-site¦same-origin¦none¦x"],
  ["sec-fetch-mode", "navigate¦cors¦x"],
  ["access-control-request-method", "PUT¦x"],
  ["x-forwarded-for", "1.2.3.4¦::1¦x¦127.0.0.1, 1.2.3.4¦,"],
  ["x-forwarded-host", "other.invalid¦¦a b¦127.0.0.1:1"],
  ["x-forwarded-proto", "https¦javascript¦"],
  ["x-forwarded-prefix", "/x¦//other.invalid¦../¦\\\\x"],
  ["traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01¦00-0-0-0¦x¦"],
  ["expect", "100-continue¦x"],
  ["upgrade", "websocket¦h2c"],
  ["x-http-method-override", "DELETE¦x"],
  ["upload-checksum", "sha1 eA==¦x¦sha256 !!!"],
  ["upload-offset", "1¦-1¦1.5¦99999999999999999999¦x¦¦0x10¦1e3"],
  ["upload-length", "1¦-1¦1.5¦99999999999999999999¦x¦¦0x10¦1e3"],
  ["upload-defer-length", "1¦x"],
  ["content-disposition", "attachment; filename=../x¦x"],
  ["content-type", "application/json¦x¦¦application/json; charset=\u00ff¦multipart/form-data; boundary=b"],
  ["host", "other.invalid¦¦127.0.0.1¦[::1¦localhost:1"],
  ["content-length", "0¦-1¦1e3¦99999999999999999999¦5"],
  ["transfer-encoding", "chunked¦gzip, chunked¦x"],
  ["x odd", "x"],
  ["x-odd", `a\u0000b¦\u00ff\u00fe¦a\r\n folded¦${"x".repeat(40_000)}¦`],
  ["__proto__", "x"],
];
const isFraming = ([name]: Header) => /^(content-length|transfer-encoding|expect|upgrade)$/i.test(name);

type Header = readonly [name: string, value: string];
type Body = Pick<Sending, "headers" | "body" | "cutAt"> & { readonly isChunked?: boolean };

const json = "application/json";
const otherTypes = [
  ...each("¦text/plain¦application/x-www-form-urlencoded¦application/jsonp¦application/json;charset=utf-16"),
  ...each("APPLICATION/JSON¦multipart/form-data¦multipart/form-data; boundary=¦multipart/mixed; boundary=b"),
  `multipart/form-data; boundary=${"b".repeat(200)}`,
];
const brokenJson = [
  ...each('¦{¦[]¦null¦"x"¦1e999¦{"a":1}{"b":2}¦\ufeff{}¦{\'a\':1}¦{"a":NaN}¦\u0000¦{"id":"a","id":"b"}¦{"id":"x'),
  ...["[".repeat(100_000), `${" ".repeat(200_000)}{}`, Buffer.from([0x7b, 0xff, 0xc0, 0xed, 0x80, 0x7d])],
];

function jsonBody({ route, chance }: Asking, value: unknown): Body {
  const kind = chance.next();
  const places = [[], ...placesIn(route.body)];
  if (kind < 0.6) return sent(jsonText(value, chance), json, chance);
  if (kind < 0.9)
    return sent(jsonText(withAt(value, chance.pick(places), chance.pick(oddValues)), chance), json, chance);
  if (kind < 0.97) return sent(chance.pick(brokenJson), json, chance);
  return sent(JSON.stringify(value) ?? "", chance.pick(otherTypes), chance);
}

/** As it is, in pieces, only the first part of it, or with a length that is a lie. */
function sent(content: string | Buffer, type: string, chance: Chance): Body {
  const body = Buffer.from(content);
  const kind = chance.next();
  const whole: Body = { headers: type === "" ? [] : [["content-type", type]], body };
  if (kind < 0.85) return whole;
  if (kind < 0.95) return { ...whole, isChunked: true };
  if (kind < 0.98) return { ...whole, cutAt: Math.floor(body.length / 2) };
  const lies = ["99999999999", "33554433", "99999999999999999999999", String(body.length + 10)];
  return { ...whole, headers: [...whole.headers, ["content-length", chance.pick(lies)]], cutAt: body.length };
}

const contents = each("hello¦hello¦a,b\n1,2\n¦\u0000\u0001¦¦\u0089PNG\r\n\u001a\n¦PK\u0003\u0004¦%PDF-1.4");

function fileBody({ route, chance, mark, conversation }: Asking): Body {
  const content = Buffer.from(chance.pick([...contents, mark, "x".repeat(99_999)]), "latin1");
  const form = formOf({ chance, content, conversation });
  const bytes = chance.pick(["application/octet-stream", "application/offset+octet-stream"]);
  const type = chance.odds(0.9)
    ? route.takesForm
      ? "multipart/form-data; boundary=b"
      : bytes
    : chance.pick(otherTypes);
  return sent(route.takesForm ? form : content, type, chance);
}

type Form = Pick<Asking, "chance" | "conversation"> & { readonly content: Buffer };

function formOf({ chance, content, conversation }: Form): Buffer {
  const part = (disposition: string, inside: Buffer | string) =>
    `--b\r\ncontent-disposition: ${disposition}\r\n\r\n${inside.toString("latin1")}\r\n`;
  const name = chance.odds(0.8) ? "a.txt" : chance.pick(oddTexts).slice(0, 500);
  const file = part(`form-data; name="file"; filename="${name.replaceAll('"', "%22")}"`, content);
  const fields = { conversation_id: conversation, subdir: chance.pick(["temparea", "outputs", "uploads"]) };
  const others = Object.entries(fields)
    .filter(() => chance.odds(0.7))
    .map(([field, value]) => part(`form-data; name="${field}"`, chance.odds(0.9) ? value : chance.pick(oddTexts)));
  const whole = [...others, file, "--b--\r\n"].join("");
  const odd = [
    ...[others.join(""), `${file}${whole}`, whole.slice(0, chance.int(0, whole.length)), "--b\n\n--b--", ""],
    ...[part("form-data", "x"), part("", "x"), part(`form-data; name="${"n".repeat(20_000)}"`, "x")].map(
      (one) => one + whole,
    ),
    `${part('form-data; name="__proto__"', "x").repeat(2_000)}--b--\r\n`,
    `${part(`form-data; name="file"; filename*=utf-8''..%2f..%2fx`, "x")}--b--\r\n`,
    `${part('form-data; name="file"; filename="\u00ff\u0000.txt"', "x")}--b--\r\n`,
  ];
  return Buffer.from(chance.odds(0.75) ? whole : chance.pick(odd), "latin1");
}

/** What there is to be named in a request: ids that answers gave, by whose they are. */
export type Pool = {
  /** Mostly one of their own, sometimes somebody else's, sometimes one that nobody has; `within`: of this conversation. */
  take(owner: string, kind: string, within?: string): string;
  learn(owner: string, kind: string, id: string, within?: string): void;
  /** Every id in an answer, by the names it has there; `own`: what `id` means in it. */
  learnAll(owner: string, answer: unknown, own: string, within?: string): void;
};

const kinds: Readonly<Record<string, string>> = {
  ...{ conversation_id: "conversation", conversation: "conversation", execution_id: "execution", upload_id: "upload" },
  ...{ decision: "decision", resume_token: "decision", message: "message", assistant_message_id: "message" },
  ...{ user_message_id: "message", agent_run_id: "run", checkpoint: "checkpoint" },
};
/** What `id` means below a field of this name. */
const nested: Readonly<Record<string, string>> = {
  ...{
    decisions: "decision",
    queue: "message",
    messages: "message",
    Messages: "message",
    conversation: "conversation",
  },
};

export function openPool(chance: Chance): Pool {
  const ids = new Map<string, string[]>();
  const owners = new Set<string>();
  const idsOf = (owner: string, kind: string) => ids.get(`${owner} ${kind}`) ?? [];
  const pool: Pool = {
    learn(owner, kind, id, within) {
      owners.add(owner);
      for (const one of new Set([owner, within ?? owner]))
        ids.set(`${one} ${kind}`, [id, ...idsOf(one, kind).filter((other) => other !== id)].slice(0, 40));
    },
    learnAll(owner, answer, own, within) {
      for (const [name, value] of Object.entries(Object(answer)).slice(0, 40)) {
        const kind = name === "id" ? own : kinds[name];
        const isId = typeof value === "number" || (typeof value === "string" && value !== "" && value.length <= 80);
        if (kind !== undefined && isId) pool.learn(owner, kind, String(value), within);
        else if (typeof value === "object") pool.learnAll(owner, value, nested[name] ?? own, within);
      }
    },
    take(owner, kind, within = owner) {
      if (chance.odds(0.03)) return `nobodys-${kind}`;
      const there = idsOf(chance.odds(0.12) ? chance.pick([...owners]) : within, kind);
      const found = there.length > 0 ? there : idsOf(owner, kind);
      // What is new is most likely there still.
      return found.length === 0 ? `no-${kind}` : chance.pick(chance.odds(0.8) ? found.slice(0, 6) : found);
    },
  };
  return pool;
}

export type Asking = {
  readonly name: RouteName;
  readonly route: Route;
  readonly chance: Chance;
  readonly pool: Pool;
  /** Whose ids it names, in which conversation, and what stands in the texts of theirs. */
  readonly owner: string;
  readonly conversation: string;
  readonly mark: string;
  readonly headers: readonly Header[];
};

export function requestFor(asking: Asking): Sending {
  const { route, chance } = asking;
  const { body, isChunked, cutAt, headers: own } = bodyFor(asking);
  const odd = chance.odds(0.15)
    ? [chance.pick(headers)].map(([name, all]) => [name, chance.pick(each(all))] as const)
    : [];
  const given = [...asking.headers, ...keyHeaders(asking), ...own, ...namingHeaders(asking), ...odd];
  const content = isChunked ? inChunks(body, chance) : body;
  const length = isChunked ? ["transfer-encoding", "chunked"] : ["content-length", String(body.length)];
  const isFramed = given.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name));
  const methods = each("GET¦POST¦PUT¦PATCH¦DELETE¦OPTIONS¦HEAD¦PROPFIND¦TRACE¦QUERY");
  return {
    method: chance.odds(0.97) ? route.method : chance.pick(methods),
    target: targetOf(asking),
    headers:
      isFramed || (body.length === 0 && chance.odds(0.7)) ? given : [...given, [length[0] ?? "", length[1] ?? ""]],
    body: content,
    // Whoever tells a lie about the length is waited for; so they say that no more comes.
    cutAt: cutAt ?? (odd.some(isFraming) ? content.length : undefined),
  };
}

/** The same with one place of its body as told, and nothing else odd about it. */
export function trialOf(asking: Asking, place: readonly string[], put: unknown): Sending {
  const { route, chance } = asking;
  const body = Buffer.from(jsonText(withAt(valueFor(asking, route.body), place, put), chance));
  const type = [["content-type", json] as const, ["content-length", String(body.length)] as const];
  return { method: route.method, target: pathOf(asking), headers: [...asking.headers, ...type], body };
}

function valueFor(asking: Asking, schema: z.ZodType, io?: "output"): unknown {
  const root = schemaOf(schema, io);
  return fit(root, { chance: asking.chance, known: knownTo(asking), root, depth: 0 });
}

/** The same few keys again and again: some calls are repeats, some take a key that means something else. */
function keyHeaders({ route, chance }: Asking): Header[] {
  if (route.creates !== true || !chance.odds(0.3)) return [];
  const odd = each(`¦ ¦${"x".repeat(256)}¦\u00e9¦a b¦__proto__`);
  return [["idempotency-key", chance.odds(0.9) ? `key-${chance.int(0, 400)}` : chance.pick(odd)]];
}

function inChunks(bytes: Uint8Array, chance: Chance): Buffer {
  const size = chance.pick([7, 1_000, 100_000]) + Math.floor(bytes.length / 50);
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => {
    const piece = bytes.subarray(index * size, (index + 1) * size);
    return Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")]);
  });
  return Buffer.concat([...pieces, Buffer.from("0\r\n\r\n")]);
}

function bodyFor(asking: Asking): Body {
  const { route, chance } = asking;
  if (["GET", "DELETE", "OPTIONS"].includes(route.method) && chance.odds(0.97))
    return { headers: [], body: Buffer.of() };
  return route.takesBytes || route.takesForm ? fileBody(asking) : jsonBody(asking, valueFor(asking, route.body));
}

/** Of resumable uploads, and what names a conversation beside the path. */
function namingHeaders({ route, chance, conversation }: Asking): Header[] {
  const place: Header[] = /\/files\b|^\/v1\//.test(route.path) ? [["x-conversation-id", conversation]] : [];
  if (!route.path.includes("/files/uploads")) return chance.odds(0.6) ? place : [];
  const mostly = (usual: string, odd: string) => (chance.odds(0.65) ? usual : chance.pick(each(odd)));
  const name = Buffer.from(mostly("a.txt", `b.csv¦..¦a/b¦\u0000¦${"x".repeat(300)}`)).toString("base64");
  const folder = mostly("subdir dXBsb2Fkcw==", "¦sha256 eA==¦filename¦__proto__ eA==¦filename !!!");
  return [
    ["tus-resumable", chance.odds(0.9) ? "1.0.0" : chance.pick(["0.2.2", "", "x"])],
    ["upload-length", mostly("5", "0¦-1¦1e3¦99999999999999999999¦¦x")],
    ["upload-offset", mostly("0", "5¦-1¦1.5¦99999999999999999999¦x")],
    ["upload-metadata", `filename ${name},conversation_id ${Buffer.from(conversation).toString("base64")},${folder}`],
    ...place,
  ];
}

const encode = (text: string) => encodeURIComponent(text.toWellFormed());
const oddSegments = [
  ...each("..¦.¦%2e%2e¦%2E%2E%2F%2e%2e¦..%2f..%2fx¦..%5c..%5cx¦%00¦a%00b¦%zz¦%¦%ff%fe¦%c0%ae¦%ed%a0%80¦a%2fb¦a;b¦a+b"),
  ...each("%20¦¦*¦con¦-1¦1e999¦9007199254740993¦__proto__¦~¦\u00ff¦:id¦{id}¦tus-00¦a%0d%0ab¦a%0ab"),
  ...["x".repeat(300), "%e7%95%8c".repeat(60), "x".repeat(7_000)],
];
const oddPairs = each("a¦=¦a=%zz¦limit=1&limit=2¦path[]=x¦path[a]=x¦__proto__=1¦%00=%00¦a=%ff%fe¦&&&¦#");

function pathOf(asking: Asking, odd: () => string | undefined = () => undefined): string {
  return asking.route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const words = asking.route.patterns?.[name]?.split("|") ?? [];
    const value = words.length > 1 ? asking.chance.pick(words) : parameterOf(asking, name);
    return odd() ?? (name === "path" ? value.split("/").map(encode).join("/") : encode(value));
  });
}

function targetOf(asking: Asking): string {
  const { route, chance } = asking;
  const odd = () => (chance.odds(0.5) ? encode(chance.pick(oddTexts)).slice(0, 8_000) : chance.pick(oddSegments));
  const path = pathOf(asking, () => (chance.odds(0.06) ? odd() : undefined));
  const pairs = Object.entries(Object(valueFor(asking, route.query, "output")))
    .filter(() => chance.odds(0.8))
    .map(([name, inner]) => {
      const shown = chance.odds(0.85) ? inner : chance.pick(oddValues);
      return `${encode(name)}=${encode(typeof shown === "object" ? JSON.stringify(shown) : String(shown))}`;
    });
  const all = [...pairs, ...(chance.odds(0.1) ? [chance.pick(oddPairs)] : [])].join("&").slice(0, 12_000);
  const target = `${path}${all === "" ? "" : `?${all}`}`;
  if (chance.odds(0.98)) return target;
  return chance.pick([`/${target}`, `${path}/`, `${path}//x`, path.toUpperCase(), `http://other.invalid${path}`]);
}

/** A value for a parameter of the path. */
function parameterOf(
  { name: routeName, route: { path }, chance, pool, owner, conversation }: Asking,
  name: string,
): string {
  const agents = each("general¦general¦simple¦app¦no-such-agent");
  const given: Readonly<Record<string, readonly string[]>> = {
    ...{
      name: each("a.txt¦b.csv¦c d.md¦é.json¦image.png"),
      skill: ["pdf", "no-such-skill"],
      user: ["carl", "carl", owner],
    },
    ...{ path: [...each("a.txt¦uploads/a.txt¦temparea/a.txt"), `${conversation}/uploads/a.txt`] },
    ...{ app_key: agents, agent_key: agents, model: agents, version: ["v0", "v1", "latest"] },
  };
  const known = given[name];
  if (known !== undefined) return chance.pick(known);
  if (name !== "id") return pool.take(owner, name, conversation);
  if (path.includes("/sessions/{id}"))
    return chance.pick([`sess-${owner}`, `sess-${owner}`, `sb-session-${owner}`, "sess-agent-default", "sess-bob"]);
  if (path.startsWith("/api/v1/executions/{id}")) return pool.take(owner, "execution", conversation);
  if (routeName === "getTemplate") return chance.pick(["python-basic", "no-template"]);
  return path.startsWith("/v1/responses/") ? pool.take(owner, "response") : conversation;
}

/** What `id` means in an answer of this route. */
export function idIn({ path }: Route): string {
  const [, kind = "other"] =
    /^\/v1\/(response)s|^\/api\/v1\/(memory|rule)/.exec(path)?.filter((one) => one !== undefined) ??
    /\/(trash|key)/.exec(path) ??
    (/\/decisions|\/stream|\/events/.test(path) ? ["", "decision"] : (/(conversation)s?\b/.exec(path) ?? []));
  return kind;
}

/** Of the one who can be signed in. */
export const fuzzPassword = "a good password";

/** What a field of this name should say so that the call means something. */
function knownTo({ chance, pool, owner, mark, name, conversation }: Asking): Known {
  const of = (kind: string) => [pool.take(owner, kind, conversation)];
  const text = each("hello¦你好¦do it¦a decision please¦call one of them").map((words) => `${mark} ${words}`);
  const texts = Object.fromEntries(each("text¦title¦query¦fact¦focus¦content¦input¦reason").map((one) => [one, text]));
  const general = ["general", "general", undefined];
  const known: Readonly<Record<string, readonly unknown[]>> = {
    ...texts,
    ...{ id: [`${name === "addUser" ? "u" : "f"}-${chance.int(0, 5_000)}`], session_id: [`sess-${owner}`] },
    ...{ conversation_id: [conversation], conversation: [conversation], before: [conversation] },
    ...{
      after: ["0", "3", "1~1.1.1.t5"],
      path: each("uploads/a.txt¦a.txt¦.¦uploads¦outputs"),
      files: [["uploads/a.txt"]],
    },
    ...{ file_name: each("a.txt¦uploads/a.txt¦no.txt"), subdir: each("temparea¦uploads¦outputs") },
    ...{
      extract: [true, false, false, false],
      type: each("function¦text¦input_text¦message"),
      n: [1],
      logprobs: [false],
    },
    ...{ modalities: [["text"]], code: ["print(1)"], timeout: [5], sync_timeout: [5], detect: [false], slot: ["base"] },
    ...{ agent_id: general, agent_key: general, model: ["general", "simple"], agent_run_id: of("run") },
    ...{ interrupted_assistant_message_id: of("message"), regenerate_user_message_id: of("message") },
    ...{
      regenerate_assistant_message_id: of("message"),
      resume_token: of("decision"),
      previous_response_id: of("response"),
    },
    ...{ user_id: [owner, owner, undefined], user: ["carl", "ann"], isAdmin: [false], days: [0, 20, 30, 60] },
    ...{ password: [fuzzPassword], temporary_area_id: [null] },
    messages: [[{ role: "user", content: chance.pick(text) }]],
  };
  return (field) => (Object.hasOwn(known, field) ? chance.shuffled(known[field] ?? [])[0] : undefined);
}
