import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { z } from "zod";
import { inBackground } from "../../base/background.ts";
import type { Clock } from "../../base/clock.ts";
import { hostInAddress } from "../../base/host.ts";
import { parsedJson } from "../../base/json.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import type { Logger } from "../../observe/observe.ts";
import type { Guest, Lack, SandboxProvider } from "../provider.ts";
import { findToken } from "./files-folder.ts";
import { type HostRoom, lastWordMs, serveGuest } from "./serve-guest.ts";
import { createVerifier, type Verdict } from "./signed.ts";
import { signedOver } from "./signed-stream.ts";
import {
  bodyBytesMax,
  endQuestion,
  type LookAnswer,
  lookQuestion,
  paths,
  type ToldLack,
  upgradeName,
  wireVersion,
} from "./wire.ts";

export type SandboxHostOptions = {
  /** Starts the guests. It is not closed with the host. */
  readonly provider: SandboxProvider;
  /** The folder that this machine shares with its servers. */
  readonly files: string;
  readonly secret: string;
  readonly guestsMax: number;
  /** Of AgentYard, for people. */
  readonly release: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What the door shows, PEM; without it nothing is encrypted. */
  readonly tls?: Shown | undefined;
};

type Shown = { readonly cert: Buffer; readonly key: Buffer };

/** A door at which servers with the secret have guests started. */
export type SandboxHost = {
  /** Answers the address, or what the system said. */
  listen(at: { readonly host: string; readonly port: number }): Promise<Result<string, { readonly code: string }>>;
  load(): { readonly guests: number; readonly guestsMax: number };
  /** Ends all guests, and answers nobody any more. */
  close(): Promise<void>;
};

const connectionsMax = 10_000;
const timeouts = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 1000, maxHeaderSize: 16 * 1024 };

type State = SandboxHostOptions & {
  readonly room: HostRoom;
  readonly guests: Map<string, Guest | undefined>;
  readonly verify: ReturnType<typeof createVerifier>;
};

export function openSandboxHost(options: SandboxHostOptions): SandboxHost {
  const { provider, secret, clock, logger, guestsMax, files } = options;
  /** By id; undefined while one is started. */
  const guests = new Map<string, Guest | undefined>();
  let isClosed = false;
  const load = () => ({ guests: guests.size, guestsMax });
  const room: HostRoom = {
    ...{ files, clock, load, open: provider.open },
    reserve(id) {
      if (isClosed || guests.size >= guestsMax || guests.has(id)) return false;
      guests.set(id, undefined);
      return true;
    },
    release: (id) => void guests.delete(id),
    keep: (guest) => void guests.set(guest.id, guest),
    inBackground: (work) => void inBackground(logger, "a guest of another machine broke down", work),
  };
  const state: State = { ...options, room, guests, verify: createVerifier(secret, clock) };
  const server = openDoor(options.tls, (request, response) => {
    void inBackground(logger, "a request of another machine broke down", respond(state, request, response));
  });
  const sockets = new Set<Duplex>();
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    upgrade(state, request, socket, head);
  });
  return {
    load,
    async listen({ host, port }) {
      const { promise, resolve } = Promise.withResolvers<NodeJS.ErrnoException | undefined>();
      server.once("error", resolve);
      server.listen({ host, port }, () => resolve(undefined));
      const error = await promise;
      if (error !== undefined) return failed({ code: error.code ?? error.message });
      server.on("error", (later) => logger.error("the door for servers broke down", { error: later }));
      return ok(addressOf(server, options));
    },
    async close() {
      isClosed = true;
      await Promise.all(Array.from(guests.values(), (guest) => guest?.close("closed")));
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** With a limit to everything that a stranger can take of it. */
export function openDoor(tls: Partial<Shown> | undefined, listener: RequestListener): Server {
  const server =
    tls === undefined ? createServer(timeouts, listener) : createSecureServer({ ...timeouts, ...tls }, listener);
  server.maxConnections = connectionsMax;
  server.on("clientError", (_, socket) => socket.destroy());
  return server;
}

function addressOf(server: Server, { tls }: SandboxHostOptions): string {
  const { address, port } = server.address() as AddressInfo;
  return `${tls === undefined ? "http" : "https"}://${hostInAddress(address)}:${port}`;
}

/** Whoever has not the secret learns nothing but that. */
async function respond(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = "", url: path = "" } = request;
  const body = await readBody(request);
  if (body === undefined) return void request.destroy();
  const verdict = state.verify(request.headers.authorization, { method, path, body });
  if (typeof verdict === "string") return say(response, 401, { code: verdict });
  const send = (status: number, value: unknown) => say(response, status, value, verdict.prove);
  const asked = method === "POST" ? parsedJson(body) : undefined;
  if (path === paths.look) return answer(send, lookQuestion.safeParse(asked), (question) => look(state, question));
  if (path !== paths.end) return send(404, { code: "no_such_door" });
  return answer(send, endQuestion.safeParse(asked), async ({ id }) => {
    await state.guests.get(id)?.close("caller_gone");
    return { isGone: !state.guests.has(id) };
  });
}

async function answer<T>(
  send: (status: number, value: unknown) => void,
  asked: z.ZodSafeParseResult<T>,
  make: (question: T) => Promise<unknown>,
): Promise<void> {
  if (!asked.success) return send(400, { code: "not_understood", version: wireVersion });
  send(200, await make(asked.data));
}

async function look(
  { provider, files, release, room }: State,
  { isFresh, token }: z.infer<typeof lookQuestion>,
): Promise<LookAnswer> {
  const { missing, degraded } = await provider.probe({ fresh: isFresh });
  const found = findToken(files, token);
  return {
    ...{ version: wireVersion, release, ...room.load() },
    ...{ missing: missing.map(told), degraded: degraded.map(told) },
    seen: found.ok ? found.value : { why: found.failure },
  };
}

/** Without the words: the server has its own, in the language of its people. */
function told({ name, about }: Lack): ToldLack {
  return { name, ...(about !== undefined && { about }) };
}

function say(response: ServerResponse, status: number, value: unknown, prove?: (answer: string) => string): void {
  const text = JSON.stringify(value);
  const proof = prove && { "X-AgentYard-Proof": prove(text) };
  response.writeHead(status, { "Content-Type": "application/json", ...proof });
  response.end(text);
}

/** Undefined for one that is too long, or breaks off. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  request.on("data", (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > bodyBytesMax) return resolve(undefined);
    pieces.push(piece);
  });
  request.once("end", () => resolve(Buffer.concat(pieces).toString("utf8")));
  request.once("error", () => resolve(undefined));
  request.once("close", () => resolve(undefined));
  return promise;
}

function upgrade({ verify, room, clock }: State, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method = "", url: path = "", headers } = request;
  socket.on("error", () => {});
  const isGuest = path === paths.guest && method === "POST" && headers.upgrade === upgradeName;
  const verdict: Verdict = isGuest ? verify(headers.authorization, { method, path, body: "" }) : "unsigned";
  if (typeof verdict === "string") {
    const text = JSON.stringify({ code: verdict });
    const lines = ["HTTP/1.1 401 Unauthorized", "Content-Type: application/json", `Content-Length: ${text.length}`];
    socket.end(`${[...lines, "Connection: close"].join("\r\n")}\r\n\r\n${text}`);
    // Node does not watch it any more, and its other half would stay open for as long as the stranger likes.
    return void socket.once(
      "close",
      clock.after(lastWordMs, () => socket.destroy()),
    );
  }
  const lines = ["HTTP/1.1 101 Switching Protocols", `Upgrade: ${upgradeName}`, "Connection: Upgrade"];
  socket.write(`${[...lines, `X-AgentYard-Proof: ${verdict.prove("")}`].join("\r\n")}\r\n\r\n`);
  if (head.length > 0) socket.unshift(head);
  serveGuest(signedOver(socket, verdict.keys, "host"), room);
}
