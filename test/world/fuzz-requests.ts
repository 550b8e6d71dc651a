import type { Route } from "../../src/protocol/route.ts";
import type { RouteName } from "../../src/protocol/routes.ts";
import type { Chance } from "./fuzz-chance.ts";
import type { Sending } from "./fuzz-judge.ts";
import { each, fitting, jsonText, oddText, oddValue, spoiled, withAt } from "./fuzz-values.ts";

/** One or two headers that nobody has to send, mostly with what nobody should say in them. */
function oddHeaders(chance: Chance): [string, string][] {
  return Array.from({ length: chance.int(1, 2) }, () => {
    const [name, values] = chance.pick(headers);
    return [name, chance.pick(values)];
  });
}

const long = "x".repeat(9_000);
const ranges = [
  ...["bytes=0-", "bytes=-1", "bytes=9-1", "bytes=99999999999999999999-", "bytes=0-0,1-1", "x", "bytes=-0", "bytes=-"],
  ...[`bytes=${"0-0,".repeat(1_000)}1-1`, "bytes=0-99999999999999999999", "items=0-1", "bytes=0--1", ""],
];
const numbers = ["1", "-1", "0", "1.5", "99999999999999999999", "x", "", "0x10", "1e3", "٣"];

const headers: readonly (readonly [name: string, values: readonly string[]])[] = [
  ["range", ranges],
  ["if-range", ['"x"', "", "Sun, 06 Nov 1994 08:49:37 GMT", "W/"]],
  ["if-none-match", ["*", '"x"', long]],
  ["accept-language", ["zh", "en", ";;q=,", "*", "q=1;zh;q=nan", "zh;q=0", "zh,".repeat(3_000)]],
  ["x-language", ["zh", "en", "__proto__", ""]],
  ["accept", ["text/html", "*/*", "text/event-stream", "application/xml;q=nan", ""]],
  ["accept-encoding", ["gzip", "br", "x", "identity;q=0", "*;q=0"]],
  ["content-encoding", ["gzip", "br", "x"]],
  ["x-request-id", ["r", "", "{}", "a\tb", long, "../x", "r".repeat(65)]],
  ["x-account-id", ["ann", "bob", "", "a b", "__proto__", "..", "local", "x".repeat(49)]],
  ["x-business-domain", ["x", ""]],
  ["last-event-id", [...numbers, "1~1.1.1.t1", "1~", ",:", "1,a:1,b:2", "-", "\u00e9", "1~1.1.1.r1t999999999999999"]],
  [
    "authorization",
    ["Bearer", "Bearer ", "Basic eDp5", "Bearer a b", `Bearer ${long}`, "bearer x", "Bearer \u00e9", "Digest"],
  ],
  ["x-api-key", ["", "x", long, "\u00e9"]],
  ["cookie", ["agentyard=", "agentyard=x; agentyard=y", ";;;=", long, "__Host-agentyard=x", "a=%zz"]],
  ["origin", ["null", "http://other.invalid", "http://127.0.0.1", "x", "", "http://[::1", "https://127.0.0.1:1"]],
  ["referer", ["http://other.invalid/x", "x"]],
  ["sec-fetch-site", ["cross-site", "same-origin", "none", "x"]],
  ["sec-fetch-mode", ["navigate", "cors", "x"]],
  ["sec-fetch-dest", ["document", "iframe", "x"]],
  ["access-control-request-method", ["PUT", "x"]],
  ["x-forwarded-for", ["1.2.3.4", "::1", "x", "127.0.0.1, 1.2.3.4", ",", long]],
  ["x-forwarded-host", ["other.invalid", "", "a b", "127.0.0.1:1"]],
  ["x-forwarded-proto", ["https", "javascript", ""]],
  ["x-forwarded-prefix", ["/x", "//other.invalid", "../", "\\\\x"]],
  ["forwarded", ["for=1.2.3.4;host=other.invalid", "for=", ";;"]],
  ["traceparent", ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-0-0-0", "x", ""]],
  ["tracestate", ["a=b", long]],
  ["expect", ["100-continue", "x"]],
  ["upgrade", ["websocket", "h2c"]],
  ["te", ["trailers", "x"]],
  ["x-http-method-override", ["DELETE", "x"]],
  ["upload-checksum", ["sha1 eA==", "x", "sha256 !!!"]],
  ["upload-offset", numbers],
  ["upload-length", numbers],
  ["upload-defer-length", ["1", "x"]],
  ["content-disposition", ["attachment; filename=../x", "x"]],
  [
    "content-type",
    ["application/json", "x", "", "application/json; charset=\u00ff", "multipart/form-data; boundary=b"],
  ],
  ["host", ["other.invalid", "", "127.0.0.1", "[::1", "localhost:1", "127.0.0.1.nip.invalid"]],
  ["content-length", ["0", "-1", "1e3", "99999999999999999999", "5"]],
  ["transfer-encoding", ["chunked", "gzip, chunked", "x"]],
  ["x-odd\u0000", ["x"]],
  ["x odd", ["x"]],
  ["x-odd", ["a\u0000b", "\u00ff\u00fe", "a\r\n folded", "x".repeat(40_000), ""]],
  ["__proto__", ["x"]],
  ["constructor", ["x"]],
];

// The bodies of requests: JSON, the bytes of a file, forms; whole, spoiled, cut off, of another kind than they say.

export type FuzzBody = {
  readonly headers: readonly (readonly [string, string])[];
  readonly bytes: Uint8Array;
  readonly isChunked: boolean;
  readonly cutAt: number | undefined;
};

function jsonBody(value: unknown, chance: Chance): FuzzBody {
  const kind = chance.next();
  if (kind < 0.6) return sent(jsonText(value, chance), json, chance);
  if (kind < 0.88) return sent(jsonText(spoiled(value, chance), chance), json, chance);
  if (kind < 0.91) return sent(jsonText(oddValue(chance), chance), json, chance);
  const text = JSON.stringify(value);
  const broken = [
    ...[
      "",
      "{",
      "[]",
      "null",
      '"x"',
      "1e999",
      '{"a":1}{"b":2}',
      "\ufeff{}",
      "{'a':1}",
      '{"a":NaN}',
      "\u0000",
      "{}\n\n",
    ],
    ...[text.slice(0, text.length / 2), `${text}x`, text.replaceAll('"', "'"), `{"id":"a","id":"b",${text.slice(1)}`],
    ...[
      `{"__proto__":${text}}`,
      "[".repeat(100_000),
      `${" ".repeat(200_000)}${text}`,
      `{"text":"${oddText(chance).slice(0, 99)}`,
    ],
  ];
  if (kind < 0.95) return sent(chance.pick(broken), json, chance);
  if (kind < 0.97) return sent(badUtf8(text, chance), json, chance);
  return sent(text, chance.pick(otherTypes), chance);
}

const json = "application/json";
const otherTypes = [
  ...each("¦text/plain¦application/x-www-form-urlencoded¦multipart/form-data¦application/jsonp"),
  "application/xml",
  ...each("application/json;charset=utf-16¦application/json; charset=latin1¦APPLICATION/JSON"),
  "application/json,text/plain",
];

function badUtf8(text: string, chance: Chance): Buffer {
  const bytes = Buffer.from(text);
  for (let times = 0; times < 4; times += 1)
    bytes[chance.int(0, bytes.length - 1)] = chance.pick([0xff, 0xc0, 0xed, 0x80]);
  return bytes;
}

/** As it is, in pieces, with a length that is a lie, or only the first part of it. */
function sent(body: string | Uint8Array, type: string, chance: Chance): FuzzBody {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const headers: [string, string][] = type === "" ? [] : [["content-type", type]];
  const kind = chance.next();
  const whole = { headers, bytes, isChunked: false, cutAt: undefined };
  if (kind < 0.85) return whole;
  if (kind < 0.95) return { ...whole, isChunked: true };
  if (kind < 0.98) return { ...whole, cutAt: Math.floor(bytes.length / 2) };
  const lies = ["99999999999", "33554433", "99999999999999999999999", String(bytes.length + 10)];
  return { ...whole, headers: [...headers, ["content-length", chance.pick(lies)]], cutAt: bytes.length };
}

type FileBody = {
  readonly chance: Chance;
  readonly isForm: boolean;
  readonly mark: string;
  readonly fields: Readonly<Record<string, string>>;
};

function fileBody(wanted: FileBody): FuzzBody {
  const { chance, isForm } = wanted;
  const type = isForm ? "multipart/form-data; boundary=b" : "application/octet-stream";
  const types = [type, type, type, "application/offset+octet-stream", "application/offset+octet-stream"];
  const spoken = chance.odds(0.9) ? (isForm ? type : chance.pick(types)) : chance.pick([...otherTypes, ...oddForms]);
  return sent(isForm ? formBytes(wanted) : fileBytes(wanted), spoken, chance);
}

const oddForms = [
  ...[
    "multipart/form-data",
    "multipart/form-data; boundary=",
    'multipart/form-data; boundary="b"',
    "multipart/form-data;boundary=c",
  ],
  ...[
    `multipart/form-data; boundary=${"b".repeat(200)}`,
    "multipart/form-data; boundary=b; boundary=c",
    "multipart/mixed; boundary=b",
  ],
];

function fileBytes({ chance, mark }: Pick<FileBody, "chance" | "mark">): Buffer {
  const kinds = [
    ...Array.from({ length: 6 }, () => "hello"),
    "hello",
    mark,
    "a,b\n1,2\n",
    "\u0000\u0001",
    "",
    "\u0089PNG\r\n\u001a\n",
    "PK\u0003\u0004",
    "%PDF-1.4",
    "x".repeat(99_999),
  ];
  return Buffer.concat([Buffer.from(chance.pick(kinds), "latin1"), chance.odds(0.2) ? emptyZip : Buffer.alloc(0)]);
}

const emptyZip = Buffer.from("504b0506000000000000000000000000000000000000", "hex");

function formBytes(wanted: FileBody): Buffer {
  const { chance, fields } = wanted;
  const part = (disposition: string, content: Buffer | string) =>
    Buffer.concat([
      Buffer.from(`--b\r\ncontent-disposition: ${disposition}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from("\r\n"),
    ]);
  const name = chance.odds(0.8) ? "a.txt" : oddText(chance).slice(0, 500);
  const file = part(`form-data; name="file"; filename="${name.replaceAll('"', "%22")}"`, fileBytes(wanted));
  const others = Object.entries(fields)
    .filter(() => chance.odds(0.7))
    .map(([field, value]) => part(`form-data; name="${field}"`, chance.odds(0.9) ? value : oddText(chance)));
  const end = Buffer.from("--b--\r\n");
  const whole = Buffer.concat([...others, file, end]);
  if (chance.odds(0.75)) return whole;
  const odd = [
    () => Buffer.concat([...others, end]),
    () => Buffer.concat([file, file, ...others, end]),
    () => whole.subarray(0, chance.int(0, whole.length)),
    () => Buffer.concat([...others, part("form-data", "x"), part("", "x"), end]),
    () => Buffer.concat([...Array.from({ length: 2_000 }, () => part('form-data; name="__proto__"', "x")), end]),
    () => Buffer.concat([part(`form-data; name="${"n".repeat(20_000)}"`, "x"), file, end]),
    () => Buffer.concat([part('form-data; name="file"', "no name"), end]),
    () => Buffer.concat([part(`form-data; name="file"; filename*=utf-8''..%2f..%2fx`, "x"), end]),
    () => Buffer.concat([part('form-data; name="file"; filename="\u00ff\u0000.txt"', "x"), end]),
    () => Buffer.from("--b\n\n--b--"),
    () => Buffer.alloc(0),
  ];
  return chance.pick(odd)();
}

// What there is to be named in a request: ids that answers gave, by whose they are.

export type Pool = {
  /** Mostly one of their own, sometimes somebody else's, sometimes one that nobody has; `within`: of this conversation. */
  take(owner: string, kind: string, within?: string): string;
  learn(owner: string, kind: string, id: string, within?: string): void;
  /** Every id in an answer, by the names it has there; `own`: what `id` means in it. */
  learnAll(owner: string, answer: unknown, own: string, within?: string): void;
};

const keptMax = 40;
const newMax = 6;

export function openPool(chance: Chance): Pool {
  const byOwner = new Map<string, Map<string, string[]>>();
  const idsOf = (owner: string, kind: string): string[] => {
    const kinds = byOwner.get(owner) ?? new Map<string, string[]>();
    byOwner.set(owner, kinds);
    const ids = kinds.get(kind) ?? [];
    kinds.set(kind, ids);
    return ids;
  };
  const learn = (owner: string, kind: string, id: string, within?: string) => {
    for (const ids of [idsOf(owner, kind), ...(within === undefined ? [] : [idsOf(within, kind)])]) {
      if (ids.includes(id)) continue;
      ids.unshift(id);
      ids.length = Math.min(ids.length, keptMax);
    }
  };
  const learnAll = (owner: string, answer: unknown, own: string, within?: string) => {
    if (Array.isArray(answer)) for (const item of answer.slice(0, keptMax)) learnAll(owner, item, own, within);
    else if (typeof answer === "object" && answer !== null)
      for (const [name, value] of Object.entries(answer)) {
        const kind = name === "id" ? own : kinds[name];
        const isId = typeof value === "number" || (typeof value === "string" && value.length > 0 && value.length <= 80);
        if (kind !== undefined && isId) learn(owner, kind, String(value), within);
        else if (typeof value === "object") learnAll(owner, value, nested[name] ?? own, within);
      }
  };
  return {
    learn,
    learnAll,
    take(owner, kind, within = owner) {
      if (chance.odds(0.03)) return `nobodys-${kind}`;
      const whose = chance.odds(0.12) ? chance.pick([...byOwner.keys()]) : within;
      const there = idsOf(whose, kind);
      const ids = there.length > 0 ? there : idsOf(owner, kind);
      if (ids.length === 0) return `no-${kind}`;
      // What is new is most likely there still.
      return chance.pick(chance.odds(0.8) ? ids.slice(0, newMax) : ids);
    },
  };
}

const kinds: Readonly<Record<string, string>> = {
  conversation_id: "conversation",
  conversation: "conversation",
  execution_id: "execution",
  upload_id: "upload",
  decision: "decision",
  resume_token: "decision",
  message: "message",
  assistant_message_id: "message",
  user_message_id: "message",
  agent_run_id: "run",
  checkpoint: "checkpoint",
};

/** What `id` means below a field of this name. */
const nested: Readonly<Record<string, string>> = {
  decisions: "decision",
  queue: "message",
  messages: "message",
  Messages: "message",
  conversation: "conversation",
};

// One request for one row of the route table: what its schemas say, or something near it, or nothing of the kind.

export type Asking = {
  readonly name: RouteName;
  readonly route: Route;
  readonly chance: Chance;
  readonly pool: Pool;
  /** Whose ids it names, in which conversation, and what stands in the texts of theirs. */
  readonly owner: string;
  readonly conversation: string;
  readonly mark: string;
  readonly headers: readonly (readonly [string, string])[];
};

export function requestFor(asking: Asking): Sending {
  const { route, chance } = asking;
  const body = bodyFor(asking);
  const odd = chance.odds(0.15) ? oddHeaders(chance) : [];
  const headers = [...asking.headers, ...keyHeaders(asking), ...body.headers, ...odd];
  const bytes = body.isChunked ? inChunks(body.bytes, chance) : body.bytes;
  return {
    method: methodOf(route, chance),
    target: targetOf(asking),
    headers: framed(headers, body, chance),
    body: bytes,
    // Whoever tells a lie about the length is waited for; so they say that no more comes.
    cutAt: body.cutAt ?? (odd.some(([name]) => isFraming(name)) ? bytes.length : undefined),
  };
}

/** The same with one place of its body as told, and nothing else odd about it. */
export function trialOf(asking: Asking, place: readonly string[], put: unknown): Sending {
  const { route, chance } = asking;
  const value = withAt(fitting({ schema: route.body, chance, known: knownTo(asking) }), place, put);
  const body = Buffer.from(jsonText(value, chance));
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encode(parameterOf(asking, name)));
  const headers = [
    ...asking.headers,
    ["content-type", "application/json"],
    ["content-length", String(body.length)],
  ] as const;
  return { method: route.method, target: path, headers, body };
}

function isFraming(header: string): boolean {
  return /^(content-length|transfer-encoding|expect|upgrade)$/i.test(header);
}

function methodOf({ method }: Route, chance: Chance): string {
  if (chance.odds(0.97)) return method === "GET" && chance.odds(0.05) ? "HEAD" : method;
  return chance.pick(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "PROPFIND", "TRACE", "QUERY"]);
}

/** The same few keys again and again: some calls are repeats, some take a key that means something else. */
function keyHeaders({ route, chance }: Asking): [string, string][] {
  if (route.creates !== true || !chance.odds(0.3)) return [];
  const odd = ["", " ", "x".repeat(256), "\u00e9", "a b", "__proto__"];
  return [["idempotency-key", chance.odds(0.9) ? `key-${chance.int(0, 400)}` : chance.pick(odd)]];
}

/** How long it is, or that it comes in pieces, mostly as it is. */
function framed(headers: readonly (readonly [string, string])[], body: FuzzBody, chance: Chance) {
  if (headers.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name))) return headers; // As it was made up.
  if (body.isChunked) return [...headers, ["transfer-encoding", "chunked"] as const];
  if (body.bytes.length === 0 && chance.odds(0.7)) return headers;
  return [...headers, ["content-length", String(body.bytes.length)] as const];
}

function inChunks(bytes: Uint8Array, chance: Chance): Uint8Array {
  const pieces: Buffer[] = [];
  const size = chance.pick([7, 1_000, 100_000]) + Math.floor(bytes.length / 50);
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.subarray(at, at + size);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), Buffer.from(piece), Buffer.from("\r\n"));
  }
  return Buffer.concat([...pieces, Buffer.from("0\r\n\r\n")]);
}

function bodyFor(asking: Asking): FuzzBody {
  const { route, chance } = asking;
  if (["GET", "DELETE", "OPTIONS"].includes(route.method) && chance.odds(0.97))
    return { headers: tusHeaders(asking), bytes: new Uint8Array(), isChunked: false, cutAt: undefined };
  if (route.takesBytes === true || route.takesForm === true) {
    const made = fileBody({ chance, isForm: route.takesForm === true, mark: asking.mark, fields: fieldsOf(asking) });
    return { ...made, headers: [...made.headers, ...tusHeaders(asking)] };
  }
  const value = fitting({ schema: route.body, chance, known: knownTo(asking) });
  const made = jsonBody(value, chance);
  return { ...made, headers: [...made.headers, ...tusHeaders(asking)] };
}

function fieldsOf({ chance, conversation }: Asking): Readonly<Record<string, string>> {
  return { conversation_id: conversation, subdir: chance.pick(["temparea", "outputs", "uploads"]) };
}

/** Of resumable uploads, and what names a conversation beside the path. */
function tusHeaders(asking: Asking): [string, string][] {
  const { route, chance, conversation } = asking;
  const place: [string, string][] = /\/files\b|^\/v1\//.test(route.path) ? [["x-conversation-id", conversation]] : [];
  if (!route.path.includes("/files/uploads")) return chance.odds(0.6) ? place : [];
  const lengths = [...Array.from({ length: 12 }, () => "5"), "0", "-1", "1e3", "99999999999999999999", "", "x"];
  const names = ["a.txt", "a.txt", "a.txt", "a.txt", "a.txt", "b.csv", "b.csv", "..", "a/b", "\u0000", "x".repeat(300)];
  const metadata = [
    `filename ${Buffer.from(chance.pick(names)).toString("base64")}`,
    `conversation_id ${Buffer.from(conversation).toString("base64")}`,
    chance.odds(0.7)
      ? "subdir dXBsb2Fkcw=="
      : chance.pick(["", "sha256 eA==", "filename", "__proto__ eA==", "filename !!!"]),
  ];
  return [
    ["tus-resumable", chance.odds(0.9) ? "1.0.0" : chance.pick(["0.2.2", "", "x"])],
    ["upload-length", chance.pick(lengths)],
    ["upload-offset", chance.pick(["0", "0", "0", "0", "0", "0", "5", "-1", "1.5", "99999999999999999999", "x"])],
    ["upload-metadata", metadata.join(",")],
    ...place,
  ];
}

function targetOf(asking: Asking): string {
  const { route, chance } = asking;
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (chance.odds(0.06)) return chance.odds(0.5) ? encode(oddText(chance)).slice(0, 8_000) : chance.pick(oddSegments);
    const value = parameterOf(asking, name);
    return name === "path" ? value.split("/").map(encode).join("/") : encode(value);
  });
  const query = queryOf(asking);
  return chance.odds(0.98) ? `${path}${query}` : chance.pick(oddTargets(path, query));
}

function parameterOf(asking: Asking, name: string): string {
  const words = asking.route.patterns?.[name]?.split("|") ?? [];
  return words.length > 1 ? asking.chance.pick(words) : parameter(asking, name);
}

const oddSegments = [
  ...each("..¦.¦%2e%2e¦%2E%2E%2F%2e%2e¦..%2f..%2fx¦..%5c..%5cx¦%00¦a%00b¦%zz¦%¦%ff%fe¦%c0%ae"),
  ...each("%ed%a0%80¦a%2fb¦a;b¦a+b¦%20¦¦*¦con¦-1¦1e999¦9007199254740993¦__proto__¦~¦\u00ff"),
  ...["x".repeat(300), "%e7%95%8c".repeat(60), "x".repeat(7_000), ":id", "{id}", "tus-00", "a%0d%0ab", "a%0ab", ".."],
];

function oddTargets(path: string, query: string): string[] {
  return [
    `/${path}${query}`,
    `${path}/${query}`,
    `${path}//x`,
    `${path.toUpperCase()}${query}`,
    `http://other.invalid${path}`,
  ];
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function queryOf(asking: Asking): string {
  const { route, chance } = asking;
  const value = fitting({ schema: route.query, chance, known: knownTo(asking) }, "output");
  const fields = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const pairs = fields
    .filter(() => chance.odds(0.8))
    .map(([name, inner]) => {
      const shown = chance.odds(0.85) ? inner : oddValue(chance);
      return `${encode(name)}=${encode(typeof shown === "object" ? JSON.stringify(shown) : String(shown))}`;
    });
  const more = chance.odds(0.1) ? [...pairs.slice(0, 1), chance.pick(oddPairs)] : [];
  const all = [...pairs, ...more].join("&").slice(0, 12_000);
  return all === "" ? "" : `?${all}`;
}

const oddPairs = [
  "a",
  "=",
  "a=%zz",
  "limit=1&limit=2",
  "path[]=x",
  "path[a]=x",
  "__proto__=1",
  "%00=%00",
  "a=%ff%fe",
  "&&&",
  "#",
];

/** A value for a parameter of the path. */
function parameter(asking: Asking, name: string): string {
  const { chance, pool, owner, conversation } = asking;
  switch (name) {
    case "id":
      return ownId(asking);
    case "name":
      return chance.pick(["a.txt", "b.csv", "c d.md", "é.json", "image.png"]);
    case "path":
      return chance.pick(["a.txt", "uploads/a.txt", `${conversation}/uploads/a.txt`, "temparea/a.txt"]);
    case "app_key":
    case "agent_key":
    case "model":
      return chance.pick(["general", "general", "simple", "app", "no-such-agent"]);
    case "skill":
      return chance.pick(["pdf", "no-such-skill"]);
    case "version":
      return chance.pick(["v0", "v1", "latest"]);
    case "user":
      return chance.pick(["carl", "carl", owner]);
    default:
      return pool.take(owner, name, conversation);
  }
}

/** What `{id}` means, by the path it stands in. */
function ownId({ name, route: { path }, chance, pool, owner, conversation }: Asking): string {
  const sessions = [`sess-${owner}`, `sess-${owner}`, `sb-session-${owner}`, "sess-agent-default", "sess-bob"];
  if (path.includes("/sessions/{id}")) return chance.pick(sessions);
  if (path.startsWith("/api/v1/executions/{id}")) return pool.take(owner, "execution", conversation);
  if (name === "getTemplate") return chance.pick(["python-basic", "no-template"]);
  return path.startsWith("/v1/responses/") ? pool.take(owner, "response") : conversation;
}

/** What `id` means in an answer of this route. */
export function idIn({ path }: Route): string {
  if (path.startsWith("/v1/responses")) return "response";
  if (path.startsWith("/api/v1/memory")) return "memory";
  if (path.startsWith("/api/v1/rules")) return "rule";
  if (path.includes("/trash")) return "trash";
  if (path.includes("/keys")) return "key";
  if (/\/decisions|\/stream|\/events/.test(path)) return "decision";
  return /conversations?\b/.test(path) ? "conversation" : "other";
}

/** Of the one who can be signed in. */
export const fuzzPassword = "a good password";

/** What a field of this name should say so that the call means something. */
function knownTo(asking: Asking): (field: string) => unknown {
  const { chance, pool, owner, mark, name: routeName, conversation } = asking;
  const words = ["hello", "你好", "do it", "a decision please", "call one of them"];
  const text = () => `${mark} ${chance.pick(words)}`;
  const known: Readonly<Record<string, () => unknown>> = {
    id: () => `${routeName === "addUser" ? "u" : "f"}-${chance.int(0, 5_000)}`,
    session_id: () => `sess-${owner}`,
    conversation_id: () => conversation,
    conversation: () => conversation,
    before: () => conversation,
    after: () => chance.pick(["0", "3", "1~1.1.1.t5"]),
    path: () => chance.pick(["uploads/a.txt", "a.txt", ".", "uploads", "outputs"]),
    files: () => ["uploads/a.txt"],
    file_name: () => chance.pick(["a.txt", "uploads/a.txt", "no.txt"]),
    subdir: () => chance.pick(["temparea", "uploads", "outputs"]),
    extract: () => chance.odds(0.2),
    type: () => chance.pick(["function", "text", "input_text", "message"]),
    n: () => 1,
    logprobs: () => false,
    modalities: () => ["text"],
    code: () => "print(1)",
    timeout: () => 5,
    sync_timeout: () => 5,
    detect: () => false,
    agent_id: () => (chance.odds(0.6) ? "general" : undefined),
    agent_key: () => (chance.odds(0.6) ? "general" : undefined),
    model: () => chance.pick(["general", "simple"]),
    slot: () => "base",
    agent_run_id: () => pool.take(owner, "run", conversation),
    interrupted_assistant_message_id: () => pool.take(owner, "message", conversation),
    regenerate_user_message_id: () => pool.take(owner, "message", conversation),
    regenerate_assistant_message_id: () => pool.take(owner, "message", conversation),
    resume_token: () => pool.take(owner, "decision", conversation),
    previous_response_id: () => pool.take(owner, "response"),
    user_id: () => (chance.odds(0.7) ? owner : undefined),
    user: () => chance.pick(["carl", "ann"]),
    isAdmin: () => false,
    days: () => (chance.odds(0.2) ? 0 : chance.int(20, 60)),
    password: () => fuzzPassword,
    messages: () => (chance.odds(0.8) ? [{ role: "user", content: text() }] : undefined),
    temporary_area_id: () => (chance.odds(0.05) ? "x" : null),
    ...Object.fromEntries(
      ["text", "title", "query", "fact", "focus", "content", "input", "reason"].map((one) => [one, text]),
    ),
  };
  return (field) => (Object.hasOwn(known, field) ? known[field]?.() : undefined);
}
