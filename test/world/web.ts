import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { createConnection } from "node:net";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { type Connect, type FetchLimits, type Lookup, openWeb, type Web, type WebSettings } from "../../src/web/web.ts";

export const webSettings: WebSettings = {
  hosts: [],
  privateHosts: [],
  timeoutMs: 30_000,
  bytesMax: 20 * 1024 * 1024,
  proxyFindsNames: false,
  search: {
    provider: "auto",
    google: { url: "https://google.example", key: undefined, engine: undefined },
    brave: { url: "https://brave.example", key: undefined },
    tavily: { url: "https://tavily.example", key: undefined },
    jina: { searchUrl: "https://s.jina.example", readerUrl: "https://r.jina.example", key: undefined },
    searxng: { url: "" },
  },
};

type Wanted = {
  readonly settings?: Partial<WebSettings>;
  readonly limits?: Partial<FetchLimits>;
  readonly lookup?: Lookup;
  readonly clock?: Clock;
  readonly proxyEnv?: Readonly<Record<string, string>>;
  /** Where a connection really ends, by the address that it was meant for; all others are only noted. */
  readonly reach?: (address: string, port: number) => number | undefined;
};

/** The web with a connector that notes who would have been called. Names that nobody set are unknown. */
export function noteWeb(wanted: Wanted = {}): { web: Web; called: string[]; looked: string[] } {
  const called: string[] = [];
  const looked: string[] = [];
  const connect: Connect = async (address, port) => {
    called.push(`${address}:${port}`);
    const there = wanted.reach?.(address, port);
    return there === undefined ? undefined : open(there);
  };
  const lookup: Lookup = async (host) => {
    looked.push(host);
    return (await wanted.lookup?.(host)) ?? [];
  };
  const web = openWeb({
    ...{ clock: wanted.clock ?? systemClock, connect, lookup, limits: wanted.limits },
    settings: () => ({ ...webSettings, ...wanted.settings }),
    proxyEnv: () => wanted.proxyEnv ?? {},
  });
  return { web, called, looked };
}

function open(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: "127.0.0.1", port, allowHalfOpen: true });
    socket.once("connect", () => resolve(socket)).once("error", () => resolve(undefined));
    socket.on("error", () => {});
  });
}

/** A server of the web on this machine; its port. */
export async function siteServer(t: { after(end: () => unknown): void }, listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address: AddressInfo | string | null = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
