import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream";
import { unreachable } from "../../base/assert.ts";
import { inBackground } from "../../base/background.ts";
import type { Clock } from "../../base/clock.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import type { Logger } from "../../observe/observe.ts";
import { connectTo, isAmong, isOfThisMachine, type Lookup, type NetworkRules } from "../../web/web.ts";
import { forModels } from "../../words/words.ts";
import { readHead } from "./head.ts";
import { type ProxyRequest, parseRequest } from "./request.ts";
import { acceptStreams } from "./streams.ts";

export type ProxyLimits = {
  /** Connections of one guest at the same time. */
  readonly connectionsMax: number;
  readonly headBytesMax: number;
  readonly headMsMax: number;
  readonly connectMsMax: number;
  /** Without a byte in either direction. */
  readonly idleMsMax: number;
  readonly connectionMsMax: number;
  readonly connectionBytesMax: number;
  /** For all guests of a user that live at the same time, together. */
  readonly ownerBytesMax: number;
};

const gibibyte = 1024 ** 3;
export const proxyLimits: ProxyLimits = {
  connectionsMax: 32,
  headBytesMax: 16 * 1024,
  headMsMax: 10_000,
  connectMsMax: 10_000,
  idleMsMax: 120_000,
  connectionMsMax: 1_800_000,
  connectionBytesMax: 2 * gibibyte,
  ownerBytesMax: 8 * gibibyte,
};

/** What the guests of one user have sent and received together. */
export type Meter = { bytes: number };

export type ProxyOptions = {
  /** Asked anew for each connection: settings may change. */
  readonly rules: () => NetworkRules;
  readonly lookup: Lookup;
  readonly ownPorts: ReadonlySet<number>;
  readonly meter: Meter;
  readonly limits: ProxyLimits;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whose programs they are, for the log. */
  readonly owner: string;
  /** Hears each refusal in the words that the program gets. */
  readonly onRefusal?: ((text: string) => void) | undefined;
};

/**
 * The only way out of a guest: a proxy for HTTP and HTTPS at the other end of its network socket. It reads the request
 * itself, looks the name up itself, and connects to the very address that it looked at.
 */
export function serveNetwork(link: Duplex, options: ProxyOptions): void {
  const proxy: Proxy = { ...options, refusals: 0 };
  acceptStreams(link, {
    streamsMax: options.limits.connectionsMax,
    onStream(client) {
      // One that broke down is not left hanging. After a good end its bytes may still be on their way.
      const served = serve(client, proxy).catch((error: unknown) => {
        client.destroy();
        throw error;
      });
      void inBackground(options.logger, "a connection of a program broke down", served);
    },
  });
}

type Proxy = ProxyOptions & { refusals: number };

type Refusal =
  | { readonly why: "host" | "shut" | "unreachable"; readonly host: string; readonly port: number }
  | { readonly why: "private" | "never" | "unknown"; readonly host: string }
  | { readonly why: "spent" | "headTooLong"; readonly limitBytes: number }
  | { readonly why: "headTooSlow"; readonly seconds: number }
  | { readonly why: "request" };

async function serve(client: Duplex, proxy: Proxy): Promise<void> {
  const way = await openWay(client, proxy);
  if (client.destroyed) return void (way.ok && way.value.upstream.destroy());
  if (!way.ok) return refuse(client, proxy, way.failure);
  const { upstream, request, rest } = way.value;
  if (request.head === undefined) client.write("HTTP/1.1 200 Connection established\r\n\r\n");
  else upstream.write(request.head, "latin1");
  // Back to where it came from: it is counted with all else.
  if (rest.length > 0) client.unshift(rest);
  relay(client, upstream, proxy);
}

type Way = { readonly upstream: Socket; readonly request: ProxyRequest; readonly rest: Buffer };

async function openWay(client: Duplex, proxy: Proxy): Promise<Result<Way, Refusal>> {
  const { limits, clock, meter } = proxy;
  const { headBytesMax, headMsMax, ownerBytesMax, connectMsMax } = limits;
  const read = await readHead(client, { bytesMax: headBytesMax, msMax: headMsMax, clock });
  if (read === "too_long") return failed({ why: "headTooLong", limitBytes: headBytesMax });
  if (read === "too_slow") return failed({ why: "headTooSlow", seconds: headMsMax / 1000 });
  const request = read === "gone" ? undefined : parseRequest(read.head);
  if (read === "gone" || request === undefined) return failed({ why: "request" });
  const { host, port } = request;
  const rules = proxy.rules();
  if (!isAmong(rules.hosts, host, port)) return failed({ why: "host", host, port });
  if (meter.bytes >= ownerBytesMax) return failed({ why: "spent", limitBytes: ownerBytesMax });
  const isPrivateAllowed = isAmong(rules.privateHosts, host, port);
  const upstream = await connectTo({
    ...{ host, port, isPrivateAllowed, clock, connectMsMax, lookup: proxy.lookup },
    // Who comes from this machine is the user there: a program could answer what its own agent asks.
    isShut: proxy.ownPorts.has(port) ? isOfThisMachine : undefined,
  });
  if (typeof upstream !== "string") return ok({ upstream, request, rest: read.rest });
  return failed({ why: upstream, host, port });
}

/** Named one by one in the log up to here, for each guest: a program that asks a million times fills no disk. */
const refusalsLoggedMax = 200;

function refuse(client: Duplex, proxy: Proxy, refusal: Refusal): void {
  proxy.refusals += 1;
  if (proxy.refusals <= refusalsLoggedMax)
    proxy.logger.info("a program was kept from the network", { owner: proxy.owner, ...refusal });
  const text = textOf(refusal);
  proxy.onRefusal?.(text);
  // In the status line, too: that is all some programs show of it.
  const lines = [
    `HTTP/1.1 ${statusOf(refusal.why)}: ${text}`,
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(text) + 1}`,
    "Connection: close",
  ];
  // What it still sends has nowhere to go; as long as it does, it would not hear our answer.
  client.resume();
  client.end(`${lines.join("\r\n")}\r\n\r\n${text}\n`);
  const stopTimer = proxy.clock.after(proxy.limits.headMsMax, () => client.destroy());
  client.once("close", stopTimer);
}

function textOf(refusal: Refusal): string {
  const { network: words } = forModels;
  switch (refusal.why) {
    case "host":
    case "shut":
    case "unreachable":
      return words[refusal.why](refusal);
    case "private":
    case "never":
    case "unknown":
      return words[refusal.why](refusal);
    case "spent":
    case "headTooLong":
      return words[refusal.why](refusal);
    case "headTooSlow":
      return words.headTooSlow(refusal);
    case "request":
      return words.request();
    default:
      return unreachable(refusal);
  }
}

function statusOf(why: Refusal["why"]): string {
  switch (why) {
    case "host":
    case "shut":
    case "private":
    case "never":
    case "spent":
      return "403 Forbidden";
    case "unknown":
    case "unreachable":
      return "502 Bad Gateway";
    case "headTooLong":
      return "431 Request Header Fields Too Large";
    case "headTooSlow":
      return "408 Request Timeout";
    case "request":
      return "400 Bad Request";
    default:
      return unreachable(why);
  }
}

/** Carries bytes both ways until one side is done, or has done too much, or does nothing any more. */
function relay(client: Duplex, upstream: Socket, { limits, meter, clock, logger, owner }: Proxy): void {
  let bytes = 0;
  let lastAt = clock.monotonic();
  const cut = (why: string) => {
    logger.info("a connection of a program was cut", { owner, why });
    client.destroy();
    upstream.destroy();
  };
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    meter.bytes += chunk.length;
    lastAt = clock.monotonic();
    if (bytes > limits.connectionBytesMax || meter.bytes > limits.ownerBytesMax) cut("bytes");
  };
  const watch = () => {
    const restMs = lastAt + limits.idleMsMax - clock.monotonic();
    if (restMs <= 0) return cut("idle");
    stopIdle = clock.after(restMs, watch);
  };
  let stopIdle = clock.after(limits.idleMsMax, watch);
  const stopTimer = clock.after(limits.connectionMsMax, () => cut("time"));
  let open = 2;
  const over = () => {
    open -= 1;
    if (open > 0) return;
    stopIdle();
    stopTimer();
    upstream.destroy();
  };
  client.on("data", count);
  upstream.on("data", count);
  pipeline(client, upstream, over);
  pipeline(upstream, client, over);
}
