import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { chanceOf } from "./fuzz-chance.ts";

/** What stands before several servers: each request goes to one of them by chance. */
export type Balancer = {
  readonly address: string;
  /** How many requests each of the servers got, by its address. */
  readonly sent: ReadonlyMap<string, number>;
  close(): Promise<void>;
};

export type BalancerOptions = {
  readonly host?: string;
  readonly port?: number;
  readonly seed: number;
  /** `host:port` of each server; asked anew for every request. */
  readonly servers: () => readonly string[];
  /** Looks there whether a server wants requests. Without it all of them do. */
  readonly readyPath?: string;
};

/** So often it looks; a server that leaves says so for longer than that. */
const lookMs = 100;

/**
 * It knows nothing of what it hands on: no route, no conversation, no cookie. Where nobody listens it goes to another
 * server, and that is all it ever tries again: what was connected may have been done.
 */
export async function openBalancer(options: BalancerOptions): Promise<Balancer> {
  const { host = "127.0.0.1", port = 0, seed, servers, readyPath } = options;
  const sent = new Map<string, number>();
  const chance = chanceOf(seed);
  const count = (to: string) => void sent.set(to, (sent.get(to) ?? 0) + 1);
  const watch = readyPath === undefined ? undefined : watchReady(servers, readyPath);
  const parts: Parts = { count, order: () => chance.shuffled(watch?.ready() ?? servers()) };
  const server = createServer({ requireHostHeader: false }, (incoming, outgoing) => hand(parts, incoming, outgoing));
  server.on("checkContinue", (incoming, outgoing) => hand(parts, incoming, outgoing));
  server.on("upgrade", (incoming, socket, head) => joinUp(parts, incoming, { socket, head }));
  server.listen(port, host);
  await once(server, "listening");
  return {
    address: `http://${host}:${(server.address() as AddressInfo).port}`,
    sent,
    async close() {
      watch?.stop();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Parts = {
  readonly count: (to: string) => void;
  /** All servers, the one that was picked first. */
  readonly order: () => readonly string[];
};

/** Who said at the last look that it is ready; all of them where nobody did. */
function watchReady(servers: () => readonly string[], path: string) {
  const ready = new Set<string>();
  const look = (server: string) => {
    const asking = request({ ...placeOf(server), path, agent: false }, (answer) => {
      answer.resume();
      if (answer.statusCode === 200) ready.add(server);
      else ready.delete(server);
    });
    asking.on("error", () => void ready.delete(server));
    asking.end();
  };
  const lookAtAll = () => servers().forEach(look);
  lookAtAll();
  const timer = setInterval(lookAtAll, lookMs);
  return {
    ready() {
      const found = servers().filter((server) => ready.has(server));
      return found.length === 0 ? servers() : found;
    },
    stop: () => clearInterval(timer),
  };
}

/** About one connection, not about the request. */
const ownHeaders = new Set(["connection", "keep-alive", "transfer-encoding", "proxy-connection", "upgrade"]);

function hand(parts: Parts, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const attempt = ([to, ...others]: readonly string[]): void => {
    if (to === undefined) return void outgoing.writeHead(502).end("no server listens");
    // A connection for each request: one that was kept could be closed by its server in the moment it is used again.
    const asking = request({
      ...{ ...placeOf(to), agent: false, method: incoming.method, path: incoming.url, setHost: false },
      headers: [...endToEnd(incoming.rawHeaders), ...framing(incoming), "connection", "close"],
    });
    let answer: IncomingMessage | undefined;
    asking.once("socket", (socket: Socket) => {
      socket.setNoDelay(true);
      socket.once("connect", () => {
        parts.count(to);
        if (incoming.headers.expect !== undefined) outgoing.writeContinue();
        incoming.pipe(asking);
      });
    });
    asking.once("response", (given) => {
      answer = given;
      outgoing.writeHead(given.statusCode ?? 502, given.statusMessage, endToEnd(given.rawHeaders));
      outgoing.flushHeaders();
      given.pipe(outgoing);
      // Half an answer must not pass for all of it.
      given.once("close", () => void (given.complete || outgoing.destroy()));
    });
    asking.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") return attempt(others);
      if (answer === undefined && !outgoing.destroyed)
        outgoing.writeHead(502).end(`the server broke off: ${error.code}`);
    });
    outgoing.once("close", () => asking.destroy());
  };
  outgoing.on("error", () => {});
  incoming.on("error", () => {});
  attempt(parts.order());
}

/** Something that is no HTTP from here on. */
function joinUp(
  parts: Parts,
  { method, url, rawHeaders }: IncomingMessage,
  { socket, head }: { readonly socket: Duplex; readonly head: Buffer },
): void {
  const attempt = ([to, ...others]: readonly string[]): void => {
    if (to === undefined) return void socket.destroy();
    const there = connect({ ...placeOf(to) });
    there.once("connect", () => {
      parts.count(to);
      const lines = pairsOf(rawHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
      there.write(`${method} ${url} HTTP/1.1\r\n${lines.join("")}\r\n`);
      there.write(head);
      there.pipe(socket).pipe(there);
    });
    there.on("error", (error: NodeJS.ErrnoException) =>
      error.code === "ECONNREFUSED" ? attempt(others) : socket.destroy(),
    );
    socket.once("close", () => there.destroy());
  };
  socket.on("error", () => {});
  attempt(parts.order());
}

function endToEnd(raw: readonly string[]): string[] {
  return pairsOf(raw)
    .filter(([name]) => !ownHeaders.has(name.toLowerCase()))
    .flat();
}

/** A body whose length nobody said goes on in pieces. */
function framing({ headers }: IncomingMessage): string[] {
  return headers["transfer-encoding"] === undefined ? [] : ["transfer-encoding", "chunked"];
}

function pairsOf(raw: readonly string[]): [name: string, value: string][] {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ""] as [string, string]] : []));
}

function placeOf(address: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(`http://${address}`);
  return { host: hostname, port: Number(port) };
}
