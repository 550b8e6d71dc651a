import { isIP, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { failed, ok, type Result } from "../base/result.ts";
import { kindOf } from "./address.ts";
import { isAmong } from "./allowed.ts";
import { type ConnectLimits, connectToAny, findAddresses } from "./connect.ts";
import type { Fault, FetchLimits, WebParts } from "./guarded-fetch.ts";
import { isInsideName, type Place } from "./place.ts";
import { proxyFor } from "./proxy-env.ts";
import { openTunnel } from "./tunnel.ts";

/** Whom a request may reach besides what everybody may. */
export type WayRules = {
  readonly hosts: readonly string[];
  readonly privateHosts: readonly string[];
  /** The service that this is for: it is reached at its port, and where it is inside, it may lead inside. */
  readonly own?: { readonly host: string; readonly port: number; readonly isInside: boolean } | undefined;
};
type Wanted = { readonly rules: WayRules; readonly limits: FetchLimits; readonly signal: AbortSignal };

/** Where the web is: what else is asked for needs the word of an operator. */
const webPorts = [80, 443, 8080, 8443];

/**
 * A connection to the very address that was looked at, or why there is none. It belongs to one request: one that were
 * kept for the next could be used for a name that means somebody else by then.
 */
export async function openWay(place: Place, wanted: Wanted, parts: WebParts): Promise<Result<Socket, Fault>> {
  const { host, port, url } = place;
  const { own, privateHosts } = wanted.rules;
  const isOpened = own?.isInside === true || isAmong(privateHosts, host, port);
  const refusal = refusedByName(place, wanted.rules, isOpened);
  if (refusal !== undefined) return failed({ kind: "refused", why: refusal });
  const limits = { clock: parts.clock, connectMsMax: wanted.limits.connectMsMax, signal: wanted.signal };
  const found = await findAddresses({ host, isPrivateAllowed: isOpened, lookup: parts.lookup, ...limits });
  if (wanted.signal.aborted) return failed({ kind: "aborted" });
  const proxy = proxyFor(place, parts.proxyEnv());
  // The proxy is the way out; what lies inside is not its business, and it must not be asked for what we refuse.
  const isOutward = typeof found === "string" || found.every((address) => kindOf(address) === "public");
  const addresses = found === "unknown" && proxy !== undefined && wanted.limits.proxyFindsNames ? [host] : found;
  if (typeof addresses === "string")
    return failed(addresses === "unknown" ? { kind: "failed", why: "unknown" } : { kind: "refused", why: addresses });
  let code = "";
  const onFailed = (said: string) => {
    code = said;
  };
  const socket =
    proxy !== undefined && isOutward
      ? await openTunnel(proxy, { address: addresses[0] ?? host, port }, { ...limits, ...parts })
      : await connected(addresses, port, { ...limits, connect: parts.connect, onFailed });
  if (wanted.signal.aborted) {
    if (socket.ok) socket.value.destroy();
    return failed({ kind: "aborted" });
  }
  if (!socket.ok) return failed({ kind: "failed", why: socket.failure, ...(code !== "" && { code }) });
  if (url.protocol === "http:") return socket;
  return secured(socket.value, host, limits);
}

function refusedByName({ host, port }: Place, rules: WayRules, isOpened: boolean) {
  if (isOpened) return undefined;
  const kind = isIP(host) === 0 ? "public" : kindOf(host);
  if (kind !== "public") return kind;
  if (isInsideName(host)) return "private" as const;
  if (rules.own?.host === host && rules.own.port === port) return undefined;
  if (rules.hosts.length > 0 && !isAmong(rules.hosts, host, port)) return "host" as const;
  return webPorts.includes(port) || isAmong(rules.hosts, host, port) ? undefined : ("port" as const);
}

async function connected(
  addresses: readonly string[],
  port: number,
  limits: Parameters<typeof connectToAny>[2],
): Promise<Result<Socket, "unreachable">> {
  const socket = await connectToAny(addresses, port, limits);
  return socket === undefined ? failed("unreachable") : ok(socket);
}

type Secured = ConnectLimits & { readonly signal: AbortSignal };

/** The certificate must be that of the name that was asked for, whatever address it has. */
function secured(
  socket: Socket,
  host: string,
  { clock, connectMsMax, signal }: Secured,
): Promise<Result<Socket, Fault>> {
  return new Promise((resolve) => {
    const tls: TLSSocket = connectTls({ socket, host, ...serverName(host), ALPNProtocols: ["http/1.1"] });
    const end = (fault: Fault | undefined) => {
      stopTimer();
      signal.removeEventListener("abort", onAbort);
      tls.off("error", onError).off("close", onError);
      // From here on its end tells it.
      tls.on("error", () => {});
      if (fault !== undefined) tls.destroy();
      resolve(fault === undefined ? ok(tls) : failed(fault));
    };
    const onError = () => end({ kind: "failed", why: "tls" });
    const onAbort = () => end({ kind: "aborted" });
    const stopTimer = clock.after(connectMsMax, () => end({ kind: "failed", why: "timeout" }));
    signal.addEventListener("abort", onAbort, { once: true });
    tls
      .once("error", onError)
      .once("close", onError)
      .once("secureConnect", () => end(undefined));
    if (signal.aborted) onAbort();
  });
}

/** An address is no name that a server could be asked for. */
function serverName(host: string): { readonly servername?: string } {
  return /^[\d.]+$|:/.test(host) ? {} : { servername: host };
}
