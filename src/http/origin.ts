/**
 * Whether a request over TCP comes from this machine's own user. A page of another site can make a browser call
 * 127.0.0.1, by its address (CSRF) or by a name of its own that it points there (DNS rebinding). The second shows in
 * `Host`; the first in `Origin` or `Sec-Fetch-Site`, which a page cannot leave out. Programs send neither.
 */
export function isFromHere(request: Request, trustedHosts: readonly string[]): boolean {
  const host = request.headers.get("host") ?? new URL(request.url).host;
  const name = hostName(host);
  if (name === undefined || !(isLoopback(name) || trustedHosts.includes(name))) return false;
  const site = request.headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") return false;
  const origin = request.headers.get("origin");
  return origin === null || origin === `http://${host}` || origin === `https://${host}`;
}

function hostName(host: string): string | undefined {
  return /[\s/?#@\\,]/.test(host) ? undefined : (URL.parse(`http://${host}`)?.hostname ?? undefined);
}

function isLoopback(name: string): boolean {
  return name === "localhost" || name === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(name);
}
