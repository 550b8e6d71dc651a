import { parsedJson } from "../../base/json.ts";
import { isObject, type JsonObject, numberOf } from "./json.ts";

/** What an error says, whatever shape it came in. */
export type ErrorFacts = {
  /** The HTTP status, or the one the body names where HTTP said 200; 0 when neither did. */
  readonly status: number;
  /** Everything that stood at a code, type or status. */
  readonly codes: readonly string[];
  /** All messages, joined. Empty for a web page: what stands there is not about our request. */
  readonly text: string;
  /** Names of request fields the server complains about. */
  readonly fields: readonly string[];
  /** Waits as written: key and value. */
  readonly delays: readonly (readonly [string, string | number])[];
};

/** The facts of an answer with an error status. */
export function readErrorBody(status: number, body: string): ErrorFacts {
  const trimmed = body.trim();
  // Some servers wrap even their refusals as an event.
  const value = parsedJson(/^(?:event:.*\s+)?data:\s*(.+)/.exec(trimmed)?.[1] ?? trimmed);
  if (value !== undefined) return gather(status, value);
  return { ...gather(status, {}), text: trimmed.startsWith("<") ? "" : trimmed };
}

/**
 * The error a 200 carries inside its body or stream; `undefined` when it carries none. An `error` that is null or empty
 * is none, nor is a code that means success: some servers put those into every event. A piece of an answer may have a
 * code or a message of its own.
 */
export function carriedError(payload: JsonObject, isPart: boolean, eventName?: string): ErrorFacts | undefined {
  const isError =
    isFilled(payload.error) ||
    eventName === "error" ||
    hasFailedBaseResponse(payload) ||
    (!isPart && looksLikeError(payload));
  return isError ? gather(0, payload) : undefined;
}

/** The facts of anything that is known to be an error. */
export function errorFacts(value: unknown): ErrorFacts {
  return gather(0, value);
}

function looksLikeError(payload: JsonObject): boolean {
  if (payload.object === "error" || payload.type === "error" || payload.success === false) return true;
  if (isFilled(payload.detail) || isFilled(payload.errors) || isFilled(payload.error_msg)) return true;
  const code = payload.code ?? payload.status_code ?? payload.statusCode ?? payload.error_code;
  return isFailureCode(code) && (isFilled(payload.message) || isFilled(payload.msg));
}

function hasFailedBaseResponse(payload: JsonObject): boolean {
  const base = payload.base_resp;
  return isObject(base) && isFailureCode(base.status_code);
}

function isFailureCode(code: unknown): boolean {
  if (typeof code === "string") return !/^(?:|0+|2\d\d|ok|success)$/i.test(code.trim());
  return typeof code === "number" && code !== 0 && !(code >= 200 && code < 300);
}

function isFilled(value: unknown): boolean {
  if (typeof value === "string" || Array.isArray(value)) return value.length > 0;
  return value === true || (isObject(value) && Object.keys(value).length > 0);
}

/** Only these are looked into: a body may also echo our own request, whose words are not the server's. */
const containers = keySet(
  "error errors detail details message metadata raw innererror inner_error cause data body response",
  "base_resp fault violations header headers error_data",
);

const textKeys = keySet(
  "message msg detail error error_msg error_message errmsg error_description description reason title raw",
  "faultstring status_msg status_message Message",
);

const codeKeys = keySet(
  "code type status reason error_code errorCode errcode statusCode __type error_type",
  "quotaId quotaMetric",
);

const fieldKeys = keySet("param loc field parameter");

const delayKeys = keySet(
  "retryDelay retry_delay retry_after retryAfter retry_after_seconds retryAfterSeconds",
  "retry_after_ms retryAfterMs estimated_time x-ratelimit-reset X-RateLimit-Reset",
);

function keySet(...lines: string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(" ")));
}

const depthMax = 8;

function gather(httpStatus: number, root: unknown): ErrorFacts {
  const codes: string[] = [];
  const texts: string[] = [];
  const fields: string[] = [];
  const delays: [string, string | number][] = [];

  function visit(key: string, value: unknown, depth: number): void {
    if (depth > depthMax) return;
    if (Array.isArray(value)) for (const part of value) visit(key, part, depth + 1);
    else if (isObject(value)) for (const [name, part] of Object.entries(value)) visitMember(name, part, depth + 1);
    else if (typeof value === "string" || typeof value === "number") note(key, value, depth);
  }

  function visitMember(name: string, value: unknown, depth: number): void {
    // MiniMax numbers its failures like Zhipu does, but means other things.
    if (name === "base_resp" && isObject(value)) codes.push(`base:${String(value.status_code)}`);
    const isLeaf = typeof value === "string" || typeof value === "number";
    if (isLeaf || containers.has(name) || fieldKeys.has(name)) visit(name, value, depth);
  }

  function note(key: string, value: string | number, depth: number): void {
    const inner = typeof value === "string" && /^\s*[[{]/.test(value) ? parsedJson(value) : undefined;
    if (inner !== undefined && textKeys.has(key)) return visit(key, inner, depth + 1);
    if (delayKeys.has(key)) delays.push([key, value]);
    if (fieldKeys.has(key)) fields.push(String(value));
    if (codeKeys.has(key)) codes.push(String(value));
    if (textKeys.has(key) && typeof value === "string") texts.push(value);
  }

  visit("message", root, 0);
  return { status: weighStatus(httpStatus, codes), codes, text: texts.join("\n"), fields, delays };
}

const precise = new Set([401, 402, 403, 404, 408, 429, 499, 503, 529]);
const vague = new Set([400, 500, 502]);

/** Proxies answer 200, 400 or 500 and put the upstream's real status into the body. */
function weighStatus(httpStatus: number, codes: readonly string[]): number {
  const named = codes.map((code) => numberOf(code) ?? 0).filter((code) => code >= 400 && code < 600);
  if (httpStatus < 400) return named[0] ?? 0;
  if (!vague.has(httpStatus)) return httpStatus;
  return named.find((code) => precise.has(code) || (httpStatus === 400 && code >= 500)) ?? httpStatus;
}
