import type { Places } from "./places.ts";
import type { Reader } from "./reader.ts";
import { findOwn } from "./refuse-foreign.ts";
import { type Setting, settings } from "./settings.ts";
import type { ConfigNote } from "./slots.ts";

/** As the agents of node:http take it. */
export type ProxyEnv = { readonly [name in "HTTP_PROXY" | "HTTPS_PROXY" | "NO_PROXY"]?: string | undefined };

/** By whom requests to models, servers and pages go: with plain http a proxy reads the key and all that is said. */
export function readProxies(
  reader: Reader,
  places: Places,
): { readonly proxyEnv: ProxyEnv; readonly notes: readonly ConfigNote[] } {
  const unused: string[] = [];
  const own = (setting: Setting<string>) => {
    const foreign: string[] = [];
    const found = findOwn(reader, setting, places, ({ name }) => foreign.push(name));
    if (found === undefined) unused.push(...foreign);
    return found?.value;
  };
  const proxyEnv = {
    HTTP_PROXY: own(settings.httpProxy),
    HTTPS_PROXY: own(settings.httpsProxy),
    NO_PROXY: own(settings.noProxy),
  };
  return { proxyEnv, notes: unused.length === 0 ? [] : [{ code: "proxy_foreign", names: unused.join(", ") }] };
}
