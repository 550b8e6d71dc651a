import type { Clock } from "../base/clock.ts";
import { parsedJson } from "../base/json.ts";
import { ok, type Result } from "../base/result.ts";
import type { Failure } from "../protocol/failure.ts";
import type { Secrets } from "../users/users.ts";
import { openCredential, secretsIn, withCredential, withoutSecrets } from "./credential.ts";
import type { Box, BoxTool } from "./records.ts";
import { type Envelope, requestOf } from "./request.ts";

/** Everything that leaves goes through here: addresses are judged by `web/`, on every redirect anew. */
export type GuardedFetch = (request: {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly bodyBytesMax: number;
  /** Those of which an admin said that they may lie in a private network: `host:port`. */
  readonly ownHosts: readonly string[];
  readonly signal: AbortSignal;
}) => Promise<Result<Answered, Failure>>;

type Answered = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly bytes: Buffer;
  readonly isCut: boolean;
};

/** What a service answered, without our credential. */
export type CallAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly type: string;
  /** JSON as what it says, text as text, anything else in base64. */
  readonly content:
    | { readonly kind: "json"; readonly value: unknown; readonly text: string }
    | { readonly kind: "text"; readonly text: string }
    | { readonly kind: "bytes"; readonly base64: string; readonly sizeBytes: number };
  /** There was more than may be read. */
  readonly isCut: boolean;
  readonly durationMs: number;
};

export type CallParts = {
  readonly fetch: GuardedFetch;
  readonly secrets: Pick<Secrets, "open">;
  readonly clock: Clock;
};

export const callLimits = { timeoutMsUsual: 30_000, timeoutMsMax: 120_000, answerBytesMax: 2 * 1024 * 1024 } as const;

/** One call of a tool. The credential is opened last, goes into the request alone, and is taken out of the answer. */
export async function callTool(
  { fetch, secrets, clock }: CallParts,
  { box, tool, envelope }: { readonly box: Box; readonly tool: BoxTool; readonly envelope: Envelope },
  signal: AbortSignal,
): Promise<Result<CallAnswer, Failure>> {
  const startedAt = clock.monotonic();
  const request = requestOf({ server: box.server, ...tool }, envelope);
  if (!request.ok) return request;
  const credential = await openCredential(secrets, box);
  if (!credential.ok) return credential;
  const { url, method, headers, body } = withCredential(request.value, credential.value);
  const answer = await fetch({
    ...{ url: url.href, method, headers, body, signal },
    bodyBytesMax: callLimits.answerBytesMax,
    ownHosts: box.isPrivateAllowed ? [`${url.hostname}:${url.port || (url.protocol === "https:" ? 443 : 80)}`] : [],
  });
  if (!answer.ok) return answer;
  const hidden = secretsIn(credential.value);
  return ok({ ...readAnswer(answer.value, hidden), durationMs: Math.round(clock.monotonic() - startedAt) });
}

function readAnswer(
  { status, headers, bytes, isCut }: Answered,
  hidden: readonly string[],
): Omit<CallAnswer, "durationMs"> {
  // Half a secret at the end would not be found: where it is cut, so much is left out that none can begin there.
  const whole = isCut ? bytes.subarray(0, Math.max(0, bytes.length - (hidden[0]?.length ?? 0))) : bytes;
  const clean = withoutSecrets(whole, hidden);
  const type = (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  return { status, headers: shownHeaders(headers, hidden), type, isCut, content: contentOf(clean, type) };
}

function contentOf(bytes: Buffer, type: string): CallAnswer["content"] {
  const text = bytes.toString("utf8");
  if (/[/+]json$/.test(type) || type === "") {
    const value = parsedJson(text);
    if (value !== undefined) return { kind: "json", value, text };
  }
  const isText = /^text\/|[/+](json|xml|yaml|javascript|x-www-form-urlencoded)$/.test(type) || type === "";
  if (isText && !bytes.includes(0)) return { kind: "text", text };
  return { kind: "bytes", base64: bytes.toString("base64"), sizeBytes: bytes.length };
}

/** Sign-ins of the service, and what only counts between the two machines, are not for whoever called. */
const ownHeaders =
  /^(set-cookie2?|www-authenticate|proxy-.*|connection|keep-alive|transfer-encoding|te|trailer|upgrade|content-encoding|content-length|authorization)$/;

function shownHeaders(headers: Answered["headers"], hidden: readonly string[]): Record<string, string> {
  const kept = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined || ownHeaders.test(name) ? [] : [[name, withoutSecrets(Buffer.from(value), hidden).toString()]],
  );
  return Object.fromEntries(kept);
}
