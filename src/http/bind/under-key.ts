import { ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import type { OwnerId } from "../../protocol/ids.ts";
import type { IncomingBytes } from "../bytes.ts";
import type { HttpCall } from "../door.ts";
import type { Once } from "../handler.ts";
import { statusOf } from "../status.ts";
import type { DoOnce, KeptAnswer } from "./do-once.ts";
import { fingerprintOf, hashed, hashOf } from "./fingerprint.ts";

/** An answer longer than this is not kept: a repeat does the call again and finds what it made. */
const keptBytesMax = 1024 * 1024;

/** What a handler said, and how that goes to the caller. */
export type Responded = { readonly response: Response; readonly answer: AnyAnswer };

/** Of `Answered` what counts here, whatever the route. */
type AnyAnswer = (
  | { readonly ok: true; readonly value: unknown; readonly again?: unknown }
  | { readonly ok: false; readonly failure: Failure }
) & { readonly headers?: Readonly<Record<string, string>> };

/** The key under which a caller wants this done once, if they sent one. */
export function keyOf(request: Request): Result<string | undefined, Failure<"key_unfit">> {
  const key = request.headers.get("idempotency-key");
  if (key === null) return ok(undefined);
  return /^[\x21-\x7e]{1,255}$/.test(key) ? ok(key) : failure("key_unfit", {});
}

type Keyed = {
  readonly key: string;
  readonly owner: OwnerId;
  readonly request: Request;
  readonly json: unknown;
  readonly bytes: IncomingBytes;
  readonly signal: AbortSignal;
};

/** Answers a call under its key: by doing it, or by what came of it before. */
export async function underKey(
  doOnce: DoOnce,
  { key, owner, request, json, bytes, signal }: Keyed,
  respond: (with_: { readonly once: Once; readonly bytes: IncomingBytes }) => Promise<Responded>,
): Promise<Result<{ readonly response: Response } | { readonly before: KeptAnswer }, Failure>> {
  const hashing = hashed(bytes, request.headers.get("content-type") ?? "");
  const call = { owner, key, fingerprint: fingerprintOf(request, json), signal };
  const outcome = await doOnce(call, async (once) => {
    const { response, answer } = await respond({ once, bytes: hashing.bytes });
    return { response, kept: await keptOf(response, answer, hashing.hash()) };
  });
  if (!outcome.ok) return outcome;
  if ("done" in outcome.value) return ok({ response: outcome.value.done.response });
  const { before } = outcome.value;
  // The file of a repeat is not stored again, but another one is not taken for it either.
  if (before.content !== undefined && (await hashOf(hashing)) !== before.content)
    return failure("key_used_otherwise", {});
  return ok({ before });
}

/** The answer as it was, and a word that it was given before. */
export function replayed(c: HttpCall, { status, headers, body }: KeptAnswer): Response {
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
  c.header("idempotency-replayed", "true");
  return new Response(body, { status, headers: c.newResponse(null).headers });
}

/** What says of an answer how it is to be read; all else is about this one request. */
const keptHeaders = ["content-type", "content-language"];

async function keptOf(
  response: Response,
  answer: AnyAnswer,
  content: string | undefined,
): Promise<KeptAnswer | undefined> {
  if (!isFinal(answer)) return undefined;
  const body = await bodyOf(response, answer);
  if (body !== null && Buffer.byteLength(body) > keptBytesMax) return undefined;
  const own = Object.keys(answer.headers ?? {}).filter((name) => name.toLowerCase() !== "set-cookie");
  const names = [...keptHeaders, ...own];
  const told = names.map((name) => [name, response.headers.get(name) ?? undefined] as const);
  const headers = Object.fromEntries(told.filter((header): header is [string, string] => header[1] !== undefined));
  return { status: response.status, headers, body, content };
}

/** Whether the same call would be answered the same way for ever. Where it is worth trying again it is done again. */
function isFinal(answer: AnyAnswer): boolean {
  if (answer.ok) return !(answer.value instanceof ReadableStream);
  const status = statusOf(answer.failure);
  return status < 500 && status !== 408 && !answer.failure.retryable;
}

async function bodyOf(response: Response, answer: AnyAnswer): Promise<string | null> {
  if (answer.ok && answer.again !== undefined) return JSON.stringify(answer.again);
  return response.body === null ? null : response.clone().text();
}
