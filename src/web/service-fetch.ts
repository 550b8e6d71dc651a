import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { pipeline, type Readable, type Transform } from "node:stream";
import { failed, ok, type Result } from "../base/result.ts";
import { kindOf } from "./address.ts";
import { unpackerOf } from "./body.ts";
import { answerTo, isRedirect } from "./exchange.ts";
import { type Fault, isReading, type WebParts, withoutOwn } from "./guarded-fetch.ts";
import { isInsideName, type Place, placeOf } from "./place.ts";
import { openWay, type WayRules } from "./way.ts";

/** As the platform has it, so that the libraries of others can use it: what cannot be done is thrown. */
export type ServiceFetch = (where: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * For one service that the operator named by its address: it may be in a private network, and answers as long as it likes.
 * What the service leads to, by a redirect or by an address in its words, is judged as all else that others name: only
 * who is inside may lead inside.
 */
export function openServiceFetch(address: string, parts: WebParts): ServiceFetch {
  const isInside = insideOf(address, parts);
  return async (where, init = {}) => {
    const request = new Request(where, init);
    const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
    const rules: WayRules = { ...parts.rules(), own: { ...ownOf(address), isInside: await isInside() } };
    const asked = { rules, body, signal: init.signal ?? request.signal, isFollowing: request.redirect === "follow" };
    const answer = await follow(request, asked, parts);
    if (answer.ok) return answer.value;
    throw errorOf(answer.failure, asked.signal);
  };
}

function ownOf(address: string): { readonly host: string; readonly port: number } {
  const place = placeOf(address);
  return place.ok ? place.value : { host: "", port: 0 };
}

/**
 * Once known this stays: who owns a name may let it mean an address of this network a moment later, and would have the
 * rest of the network with it.
 */
function insideOf(address: string, { lookup }: WebParts): () => Promise<boolean> {
  const { host } = ownOf(address);
  let known: boolean | undefined = isIP(host) === 0 ? isInsideName(host) || undefined : kindOf(host) === "private";
  return async () => {
    if (known !== undefined) return known;
    const addresses = await lookup(host);
    // Several may have asked: the first answer counts.
    if (addresses.length > 0) known ??= addresses.every((one) => kindOf(one) === "private");
    return known ?? false;
  };
}

type Asked = {
  readonly rules: WayRules;
  readonly body: Uint8Array | undefined;
  readonly signal: AbortSignal;
  readonly isFollowing: boolean;
};
type Stuck = { readonly host: string; readonly fault: Fault };

async function follow(request: Request, asked: Asked, parts: WebParts): Promise<Result<Response, Stuck>> {
  const { rules, body, signal } = asked;
  const limits = parts.limits();
  const { method } = request;
  let headers: Record<string, string> = { "accept-encoding": "identity", ...Object.fromEntries(request.headers) };
  let read = placeOf(request.url);
  for (let hops = 0; ; hops += 1) {
    if (!read.ok) return failed({ host: "", fault: { kind: "refused", why: read.failure } });
    const place: Place = read.value;
    const stuck = (fault: Fault) => failed({ host: place.url.host, fault });
    const way = await openWay(place, { rules, limits, signal }, parts);
    if (!way.ok) return stuck(way.failure);
    // Nobody hears of it otherwise where the other side is gone without a word.
    way.value.setKeepAlive(true, keepAliveMs);
    const answer = await answerTo(way.value, place, { method, headers, body }, { limits, signal });
    if (!answer.ok) return stuck(answer.failure);
    const { statusCode = 0, headers: told } = answer.value;
    // What is sent is sent to whom it was meant for, or to nobody.
    const isNext = asked.isFollowing && isReading(method) && isRedirect(statusCode) && told.location !== undefined;
    if (!isNext) return responseOf(answer.value, signal, stuck);
    answer.value.destroy();
    if (hops >= limits.redirectsMax) return stuck({ kind: "failed", why: "redirects" });
    read = placeOf(told.location ?? "", place.url);
    if (read.ok && read.value.url.origin !== place.url.origin) headers = withoutOwn(headers);
  }
}

const keepAliveMs = 60_000;

/** The content is handed on while it comes: some answers never end. */
function responseOf(answer: IncomingMessage, signal: AbortSignal, stuck: (fault: Fault) => Result<never, Stuck>) {
  const { statusCode: status = 0, statusMessage: statusText = "", headers } = answer;
  const unpack: Transform | "unknown" | undefined = unpackerOf(headers["content-encoding"]);
  if (status < 200 || status > 599 || unpack === "unknown") {
    answer.destroy();
    return stuck({ kind: "failed", why: unpack === "unknown" ? "encoding" : "broken" });
  }
  const told = new Headers();
  for (const [name, value] of Object.entries(headers)) for (const one of [value ?? []].flat()) told.append(name, one);
  if (bodiless.has(status)) {
    answer.resume();
    return ok(new Response(null, { status, statusText, headers: told }));
  }
  const content: Readable = unpack === undefined ? answer : pipeline(answer, unpack, () => {});
  const end = () => content.destroy(new DOMException("This operation was aborted", "AbortError"));
  signal.addEventListener("abort", end, { once: true });
  content.once("close", () => signal.removeEventListener("abort", end));
  if (signal.aborted) end();
  return ok(new Response(content, { status, statusText, headers: told }));
}

const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** What the platform's own fetch throws, with the code of the system in its cause; a refusal says what it is about. */
function errorOf({ host, fault }: Stuck, signal: AbortSignal): Error {
  if (fault.kind === "aborted")
    return signal.reason instanceof Error
      ? signal.reason
      : new DOMException("This operation was aborted", "AbortError");
  if (fault.kind === "refused")
    return new Error(
      `the address ${host} is not reached (${fault.why}): it was named by the server, not in the settings`,
    );
  const cause = Object.assign(new Error(fault.why), { code: fault.code ?? codes[fault.why] });
  return new TypeError("fetch failed", { cause });
}

const codes: Readonly<Record<Extract<Fault, { kind: "failed" }>["why"], string>> = {
  ...{ unknown: "ENOTFOUND", unreachable: "ECONNREFUSED", timeout: "ETIMEDOUT", tls: "ETLS", broken: "ECONNRESET" },
  ...{ redirects: "EREDIRECTS", headers: "EHEADERS", proxy: "EPROXY", encoding: "EENCODING" },
};
