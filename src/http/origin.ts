import { isIP } from "node:net";
import { bareHost, hostInAddress } from "../base/host.ts";
import type { Arrival } from "./arrival.ts";
import type { ServerSettings } from "./settings.ts";

type Named = Pick<ServerSettings, "host" | "trustedHosts">;

/**
 * Whether a request was meant for us. A page of another site can point a name of its own at this machine (DNS
 * rebinding); its browser then sends that name as `Host`, and believes that our answers are the page's own. An address
 * in numbers cannot be pointed anywhere: where we listen on all of them and everybody signs in, each of them is ours.
 */
export function isOurHost({ host }: Arrival, { host: listening, trustedHosts }: Named, usersExist: boolean): boolean {
  const name = hostName(host);
  if (name === undefined) return false;
  if (isLoopback(name) || trustedHosts.includes(name) || name === hostName(hostInAddress(listening))) return true;
  return usersExist && (listening === "0.0.0.0" || listening === "::") && isIP(bareHost(name)) !== 0;
}

/**
 * What a browser says about the page that makes a request: our own, one that the settings name, or another. The second
 * way in for other sites is to call us by our right address (CSRF); it shows in `Origin` or `Sec-Fetch-Site`, which a
 * page cannot leave out. Other software sends neither: `none`.
 */
export function pageOf(
  { headers }: Request,
  { host, scheme }: Arrival,
  allowedOrigins: readonly string[],
): "ours" | "named" | "none" | "other" {
  const origin = headers.get("origin");
  const site = headers.get("sec-fetch-site");
  if (origin !== null && allowedOrigins.includes(origin)) return "named";
  if (site !== null && site !== "same-origin" && site !== "none") return "other";
  if (origin === null) return "none";
  const schemes = scheme === undefined ? ["http", "https"] : [scheme];
  return schemes.some((one) => origin === `${one}://${host}`) ? "ours" : "other";
}

/** Somebody followed a link to us, or was sent by a sign-in service: nothing is changed by that. */
export function isNavigation({ method, headers }: Request): boolean {
  return (method === "GET" || method === "HEAD") && headers.get("sec-fetch-mode") === "navigate";
}

/** Whether a person waits for a page. Called without TLS from another machine browsers name no mode, only what they can show. */
export function wantsPage(request: Request): boolean {
  const { method, headers } = request;
  if (headers.has("sec-fetch-mode")) return isNavigation(request);
  return (method === "GET" || method === "HEAD") && /\btext\/html\b/.test(headers.get("accept") ?? "");
}

function hostName(host: string): string | undefined {
  return /[\s/?#@\\,]/.test(host) ? undefined : (URL.parse(`http://${host}`)?.hostname ?? undefined);
}

function isLoopback(name: string): boolean {
  return name === "localhost" || name === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(name);
}
