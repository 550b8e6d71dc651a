import type { Clock } from "../base/clock.ts";
import { failed, ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { acceptedEncodings } from "./body.ts";
import type { Connect } from "./connect.ts";
import { exchange, isRedirect, type Received, type Sent } from "./exchange.ts";
import type { Lookup } from "./lookup.ts";
import { type Place, type PlaceFault, placeOf } from "./place.ts";
import type { ProxyEnv } from "./proxy-env.ts";
import { openWay, type WayRules } from "./way.ts";

export type FetchLimits = {
  /** All of it: names, connections, redirects, the last byte. */
  readonly timeoutMs: number;
  readonly connectMsMax: number;
  readonly redirectsMax: number;
  readonly headBytesMax: number;
  /** Of the content, unpacked. */
  readonly bodyBytesMax: number;
  /** Names that this machine does not know are left to the proxy, and so is the question whom they mean. */
  readonly proxyFindsNames: boolean;
};

export const defaultFetchLimits: FetchLimits = {
  timeoutMs: 30_000,
  connectMsMax: 10_000,
  redirectsMax: 5,
  headBytesMax: 64 * 1024,
  bodyBytesMax: 20 * 1024 * 1024,
  proxyFindsNames: false,
};

export type WebRequest = {
  readonly url: string;
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | undefined;
  readonly bodyBytesMax?: number | undefined;
  /** Hosts that the operator named for this request: they may be in a private network. */
  readonly ownHosts?: readonly string[] | undefined;
  readonly signal: AbortSignal;
};

export type WebAnswer = {
  /** Where the answer came from, after all redirects. */
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly bytes: Buffer;
  /** There was more than may be read. */
  readonly isCut: boolean;
};

export type FetchFailure = Failure<"web_address_refused" | "web_fetch_failed">;
type Refused = PlaceFault | "host" | "port" | "private" | "never";
type Failed = "unknown" | "unreachable" | "timeout" | "tls" | "broken" | "redirects" | "headers" | "proxy" | "encoding";
export type Fault =
  | { readonly kind: "refused"; readonly why: Refused }
  | { readonly kind: "failed"; readonly why: Failed /** The system's own word for it. */; readonly code?: string }
  | { readonly kind: "aborted" };

export type WebParts = {
  readonly clock: Clock;
  readonly lookup: Lookup;
  readonly connect?: Connect | undefined;
  readonly proxyEnv: () => ProxyEnv;
  readonly rules: () => WayRules;
  readonly limits: () => FetchLimits;
};

/** What goes out on a model's word goes out here: each place is judged, on every redirect anew, before anybody is called. */
export async function guardedFetch(request: WebRequest, parts: WebParts): Promise<Result<WebAnswer, FetchFailure>> {
  const limits = parts.limits();
  const bodyBytesMax = Math.min(request.bodyBytesMax ?? limits.bodyBytesMax, limits.bodyBytesMax);
  const late = new AbortController();
  const stopTimer = parts.clock.after(limits.timeoutMs, () => late.abort());
  const signal = AbortSignal.any([request.signal, late.signal]);
  const answer = await follow(request, { parts, limits: { ...limits, bodyBytesMax }, signal });
  stopTimer();
  if (answer.ok) return answer;
  const { host, fault } = answer.failure;
  if (fault.kind === "refused") return failure("web_address_refused", { host, why: fault.why });
  const why = fault.kind === "failed" ? fault.why : late.signal.aborted ? "timeout" : "stopped";
  return failure("web_fetch_failed", { host, why, seconds: limits.timeoutMs / 1_000 });
}

type Following = { readonly parts: WebParts; readonly limits: FetchLimits; readonly signal: AbortSignal };
type Stuck = { readonly host: string; readonly fault: Fault };

async function follow(request: WebRequest, { parts, limits, signal }: Following): Promise<Result<WebAnswer, Stuck>> {
  const { hosts, privateHosts } = parts.rules();
  const rules: WayRules = { hosts, privateHosts: [...privateHosts, ...(request.ownHosts ?? [])] };
  const { method = "GET" } = request;
  let headers = { ...usualHeaders, ...request.headers };
  let read = placeOf(request.url);
  for (let hops = 0; ; hops += 1) {
    if (!read.ok) return failed({ host: shownHost(request.url), fault: { kind: "refused", why: read.failure } });
    const place: Place = read.value;
    const stuck = (fault: Fault) => failed({ host: place.url.host, fault });
    const way = await openWay(place, { rules, limits, signal }, parts);
    if (!way.ok) return stuck(way.failure);
    const sent: Sent = { method, headers, body: isReading(method) ? undefined : request.body };
    const came = await exchange(way.value, place, sent, { limits, signal });
    if (!came.ok) return stuck(came.failure);
    const next = nextOf(came.value, method);
    if (next === undefined) return ok(answerOf(came.value, place));
    if (hops >= limits.redirectsMax) return stuck({ kind: "failed", why: "redirects" });
    read = placeOf(next, place.url);
    if (read.ok && read.value.url.origin !== place.url.origin) headers = withoutOwn(headers);
  }
}

/** Many sites turn away who does not say who they are. */
const usualHeaders: Readonly<Record<string, string>> = {
  "user-agent": "Mozilla/5.0 (compatible; AgentYard)",
  accept: "*/*",
  "accept-encoding": acceptedEncodings,
};

/** Only what was asked for to be read is looked for elsewhere: a body goes to whom it was meant for, or to nobody. */
function nextOf({ status, headers }: Received, method: string): string | undefined {
  const { location } = headers;
  return isRedirect(status) && location !== undefined && isReading(method) ? location : undefined;
}

export function isReading(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

/** Another site gets nothing that was meant for the first: keys, cookies, whatever else a caller thought of. */
export function withoutOwn(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) =>
    /^(accept|accept-language|accept-encoding|user-agent)$/.test(name),
  );
  return Object.fromEntries(kept);
}

function answerOf({ status, headers, bytes, isCut }: Received, { url }: Place): WebAnswer {
  const single = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(", ") : value,
  ]);
  return { url: url.href, status, headers: Object.fromEntries(single), bytes, isCut };
}

const shownCharactersMax = 80;

/** Of an address that cannot be read: without what might be a password in it. */
function shownHost(written: string): string {
  const text = written.trim().replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, " ");
  return text
    .replace(/^([a-z+.-]*:\/\/)?[^/@]*@/i, "$1")
    .slice(0, shownCharactersMax)
    .toWellFormed();
}
