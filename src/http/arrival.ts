import { BlockList, isIP } from "node:net";
import type { Door } from "./door.ts";

/** From where a request comes and under which name, as far as that can be believed. */
export type Arrival = {
  /** The caller's address; undefined in the process itself, and where a proxy does not say it so that we understand. */
  readonly address: string | undefined;
  /** It came through a proxy, and nobody whom we trust says from whom: the address may be the proxy's. */
  readonly isVeiled: boolean;
  /**
   * The connection is of this machine, and nothing speaks of a proxy in between: what one says of an address is not
   * enough where nobody has to sign in. A connection that is gone has no address any more: then nobody knows.
   */
  readonly isFromHere: boolean;
  /** As the browser knows us: `yard.example:8443`. */
  readonly host: string;
  /** Undefined where nobody whom we trust says it; plain http then, or a proxy that keeps it to itself. */
  readonly scheme: "http" | "https" | undefined;
  /** The path below which we are served: empty, or `/yard`. */
  readonly prefix: string;
};

/** Says it for every request; `X-Forwarded-*` counts only from proxies that the settings name. */
export function openArrivals(trustedProxies: readonly string[]): (request: Request, door: Door) => Arrival {
  const proxies = networksOf(trustedProxies);
  return (request, { door, address: peer, basePath = "" }) => {
    const { headers } = request;
    const host = headers.get("host") ?? new URL(request.url).host;
    const address = peer === undefined ? undefined : plainAddress(peer);
    const isForwarded = [...headers.keys()].some((name) => forwardedForm.test(name));
    const isFromHere = !isForwarded && (address === undefined ? door === undefined : isLoopbackAddress(address));
    if (address === undefined || !proxies(address))
      return { address, isVeiled: isForwarded, isFromHere, host, scheme: undefined, prefix: basePath };
    const callers = headers.get("x-forwarded-for");
    const scheme = lastOf(headers.get("x-forwarded-proto"))?.toLowerCase();
    return {
      address: callers === null ? address : callerBehind(address, callers, proxies),
      isVeiled: isForwarded && callers === null,
      isFromHere,
      host: lastOf(headers.get("x-forwarded-host")) ?? host,
      scheme: scheme === "https" || scheme === "http" ? scheme : undefined,
      prefix: prefixIn(headers.get("x-forwarded-prefix")) ?? basePath,
    };
  };
}

/** What proxies add, each in its own way. */
const forwardedForm =
  /^(x-forwarded(-.*)?|forwarded|via|x-real-ip|x-original-(forwarded-for|host)|true-client-ip|cf-connecting-ip)$/;

const prefixCharactersMax = 200;

/** It stands in pages and cookies, so it has nothing in it that could end one. Undefined for what is no path. */
function prefixIn(header: string | null): string | undefined {
  const named = lastOf(header);
  if (named === undefined || named.length > prefixCharactersMax) return undefined;
  let end = named.length;
  while (named[end - 1] === "/") end -= 1;
  const prefix = named.slice(0, end);
  return /^(\/[A-Za-z0-9._~-]+)*$/.test(prefix) ? prefix : undefined;
}

/** Each proxy adds whom it heard at the end: the last one whom we do not trust is the caller. */
function callerBehind(peer: string, forwarded: string, isProxy: (address: string) => boolean): string | undefined {
  let caller = peer;
  for (const entry of forwarded.split(",").toReversed()) {
    const address = plainAddress(entry.trim());
    // `unknown`, or a form that we do not read: somebody else than the proxy, in any case.
    if (address === undefined) return undefined;
    caller = address;
    if (!isProxy(address)) return caller;
  }
  return caller;
}

function networksOf(named: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const one of named) {
    const [network = "", bits] = one.split("/");
    const family = isIP(network) === 6 ? "ipv6" : "ipv4";
    if (isIP(network) === 0) continue;
    if (bits === undefined) list.addAddress(network, family);
    else list.addSubnet(network, Number(bits), family);
  }
  return (address) => list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** `::ffff:10.0.0.1` → 10.0.0.1; without a zone or a port, which some proxies add; undefined for what is no address. */
function plainAddress(text: string): string | undefined {
  const bare = /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const [address = ""] = bare.split("%");
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  return isIP(mapped) === 0 ? undefined : mapped;
}

function lastOf(list: string | null): string | undefined {
  const last = list?.split(",").at(-1)?.trim();
  return last === "" ? undefined : last;
}

/** What one caller can choose among is one address: of IPv6 a home has 2^64. */
export function networkOf(address: string | undefined): string {
  if (address === undefined || isIP(address) !== 6) return address ?? "";
  const [head = "", tail = ""] = address.split("::");
  const first = head.split(":").filter((part) => part !== "");
  const last = tail.split(":").filter((part) => part !== "");
  const zeros = address.includes("::") ? Array<string>(Math.max(0, 8 - first.length - last.length)).fill("0") : [];
  return [...first, ...zeros, ...last].slice(0, 4).join(":");
}

function isLoopbackAddress(address: string): boolean {
  return address === "::1" || address.startsWith("127.");
}
