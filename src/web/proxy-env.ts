import { isIP } from "node:net";
import type { Place } from "./place.ts";

/** As the environment names them. */
export type ProxyEnv = { readonly [name in "HTTP_PROXY" | "HTTPS_PROXY" | "NO_PROXY"]?: string | undefined };

/** The proxy for a place, if there is one. */
export function proxyFor({ url, host, port }: Place, env: ProxyEnv): URL | undefined {
  const named = url.protocol === "https:" ? env.HTTPS_PROXY : env.HTTP_PROXY;
  if (named === undefined || named === "" || isDirect(host, port, env.NO_PROXY ?? "")) return undefined;
  return URL.parse(named) ?? undefined;
}

/** `NO_PROXY` as curl reads it: names with all that is below them, addresses, `*`; each may have a port. */
function isDirect(host: string, port: number, noProxy: string): boolean {
  const entries = noProxy.toLowerCase().split(/[\s,]+/);
  return entries.some((entry) => {
    if (entry === "*") return true;
    const [, name = "", onlyPort] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? [];
    if (name === "" || (onlyPort !== undefined && Number(onlyPort) !== port)) return false;
    const plain = name.replace(/^\*?\./, "");
    return host === plain || host.endsWith(`.${plain}`);
  });
}
