import type { Route } from "../../src/protocol/route.ts";
import type { RouteName } from "../../src/protocol/routes.ts";
import { type FuzzBody, fileBody, jsonBody } from "./fuzz-bodies.ts";
import type { Chance } from "./fuzz-chance.ts";
import { oddHeaders } from "./fuzz-headers.ts";
import type { Pool } from "./fuzz-pool.ts";
import type { Sending } from "./fuzz-send.ts";
import { fitting, jsonText, oddText, oddValue, withAt } from "./fuzz-values.ts";

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
  ...[
    "..",
    ".",
    "%2e%2e",
    "%2E%2E%2F%2e%2e",
    "..%2f..%2fx",
    "..%5c..%5cx",
    "%00",
    "a%00b",
    "%zz",
    "%",
    "%ff%fe",
    "%c0%ae",
  ],
  ...[
    "%ed%a0%80",
    "a%2fb",
    "a;b",
    "a+b",
    "%20",
    "",
    "*",
    "con",
    "-1",
    "1e999",
    "9007199254740993",
    "__proto__",
    "~",
    "\u00ff",
  ],
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
