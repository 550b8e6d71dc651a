import { once } from "node:events";
import { lstat, unlink } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import { connect, isIPv4 } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener, RequestError } from "@hono/node-server";
import type { Clock } from "../base/clock.ts";
import { type AddressFault, addressFault, systemCode } from "../base/fault.ts";
import { hostInAddress } from "../base/host.ts";
import { failed, ok, type Result } from "../base/result.ts";
import { makeFailure } from "../protocol/failure.ts";
import type { App, Door } from "./door.ts";
import { problemOf } from "./problem.ts";

export type ListenAddress = { readonly socketPath: string } | { readonly host: string; readonly port: number };

export type ListenFailure = { readonly reason: AddressFault; readonly said: string };

export type Listening = {
  /** The path of the socket, or `http://host:port`. */
  readonly address: string;
  /** Says first that it leaves, and serves on for as long as was wanted; ends streams, gives other requests a moment to finish, then closes. */
  readonly close: () => Promise<void>;
};

const closeGraceMs = 2_000;
/** For all of a request to come in: an upload over a slow line takes its time. */
const requestTimeoutMs = 3_600_000;
const headersTimeoutMs = 30_000;
/** Without a byte of a body that was announced, or without a byte of an answer being taken. */
const silenceUsualMs = 120_000;
/** For all of a body of somebody whom nobody knows (yet). */
const strangerBodyMsMax = 30_000;
/** Longer than proxies keep theirs, so that none sends into a connection that we just close. */
const keepAliveMs = 75_000;
const headerBytesUsual = 32 * 1024;
const connectionsMax = 10_000;

export type ListenOptions = {
  readonly clock: Clock;
  /** The path under which others serve it: empty, or `/yard`. */
  readonly basePath?: string;
  /** Of all headers of a request. */
  readonly headerBytesMax?: number;
  /** So long a body that was announced, or an answer that nobody takes, may stand still. */
  readonly silenceMsMax?: number;
  /** So long it serves on after it was closed, and says that it is not ready: a balancer sends what comes elsewhere. */
  readonly drainMs?: number;
};

/** Opens the app to the network or to other processes of the same user. */
export async function listen(
  app: Pick<App, "fetch">,
  at: ListenAddress,
  options: ListenOptions,
): Promise<Result<Listening, ListenFailure>> {
  const { clock, basePath = "", headerBytesMax = headerBytesUsual, drainMs = 0 } = options;
  const { silenceMsMax = silenceUsualMs } = options;
  const [leaving, closing] = [new AbortController(), new AbortController()];
  const signals = { leaving: leaving.signal, closing: closing.signal };
  const door: Door = { door: "socketPath" in at ? "socket" : "tcp", ...signals, basePath };
  // The adapter would otherwise put its own Request and Response in place of the global ones.
  const answer = getRequestListener(
    (request, { incoming, outgoing }) =>
      app.fetch(request, {
        ...door,
        address: incoming.socket.remoteAddress,
        giveTime: "socketPath" in at ? undefined : endWhenLong(incoming, outgoing, clock),
        breakOff: () => void outgoing.destroy(),
        onEnd: (listener) => void outgoing.once("close", listener),
      }),
    { overrideGlobalObjects: false, errorHandler: refuseAddress },
  );
  const respond = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    outgoing.once("close", () => {
      if (closing.signal.aborted) server.closeIdleConnections();
    });
    incoming.url = withoutBasePath(incoming.url ?? "/", basePath);
    endWhenSilent(incoming, outgoing, { silenceMsMax, waits: "socketPath" in at });
    void answer(incoming, outgoing);
  };
  const server = createServer({ ...limits, maxHeaderSize: headerBytesMax }, respond);
  // Node would refuse an expectation it does not know without a word; none is as good.
  server.on("checkExpectation", respond);
  server.maxConnections = connectionsMax;
  server.on("clientError", refuseUnreadable);
  const refusal =
    "socketPath" in at ? await openSocket(server, at.socketPath) : await open(server, () => server.listen(at));
  if (refusal !== undefined) return failed({ reason: addressFault(refusal.code), said: refusal.message });
  return ok({
    address: addressOf(server),
    async close() {
      leaving.abort();
      if (drainMs > 0) await clock.wait(drainMs);
      closing.abort();
      const cancelForce = clock.after(closeGraceMs, () => server.closeAllConnections());
      await new Promise((resolve) => server.close(resolve));
      cancelForce();
    },
  });
}

const limits = {
  requestTimeout: requestTimeoutMs,
  headersTimeout: headersTimeoutMs,
  keepAliveTimeout: keepAliveMs,
  // Node would refuse it without a word.
  requireHostHeader: false,
};

/** The routes know nothing of the path below which a proxy serves them. What comes without it is taken as well. */
function withoutBasePath(url: string, basePath: string): string {
  if (basePath === "" || !url.startsWith(basePath)) return url;
  const rest = url.slice(basePath.length);
  if (rest === "" || rest.startsWith("?")) return `/${rest}`;
  return rest.startsWith("/") ? rest : url;
}

type Silence = {
  readonly silenceMsMax: number;
  /** An answer waits for as long as its caller is there: a program of this user, which may have been halted. */
  readonly waits: boolean;
};

/**
 * A caller who announces a body and sends nothing of it would hold a connection for an hour; one who takes nothing of an
 * answer would hold that and the connection for ever.
 */
function endWhenSilent(incoming: IncomingMessage, outgoing: ServerResponse, { silenceMsMax, waits }: Silence): void {
  if (waits && !hasBody(incoming)) return;
  const { socket } = incoming;
  socket.setTimeout(silenceMsMax);
  // Heard here, it is for us to end the connection. While nothing waits to be taken, silence is nobody's fault.
  outgoing.on("timeout", () => {
    if (!incoming.complete) incoming.destroy();
    else if (!waits && socket.writableLength > 0) outgoing.destroy();
  });
}

/**
 * And one who sends it drop by drop would as well. Whoever is known gets all the time there is: what comes back is
 * called for them.
 */
function endWhenLong(incoming: Incoming, outgoing: Pick<ServerResponse, "headersSent">, clock: Clock): () => void {
  if (!hasBody(incoming)) return () => {};
  const cancel = clock.after(strangerBodyMsMax, () => {
    if (incoming.complete || incoming.destroyed) return;
    if (outgoing.headersSent) return void incoming.destroy();
    refuseUnreadable({ code: "ERR_HTTP_REQUEST_TIMEOUT" }, incoming.socket);
    incoming.socket.destroySoon();
  });
  incoming.once("close", cancel);
  return cancel;
}

/** As much of it as both versions of HTTP have. */
type Incoming = Pick<IncomingMessage, "headers" | "socket" | "complete" | "destroyed"> & {
  destroy(): unknown;
  once(event: "close", listener: () => void): unknown;
};

function hasBody({ headers }: Pick<IncomingMessage, "headers">): boolean {
  const { "content-length": length = "0", "transfer-encoding": encoding } = headers;
  return length !== "0" || encoding !== undefined;
}

/** A target or a `Host` of which no address can be made never reaches the app either. */
function refuseAddress(error: unknown): Response {
  const isTheirs = error instanceof RequestError;
  const reason = isTheirs ? makeFailure("request_unreadable", { why: "syntax" }) : makeFailure("internal", { id: "" });
  const problem = problemOf(reason, { language: "en", requestId: "" });
  return new Response(JSON.stringify(problem), { status: problem.status, headers: plainHeaders });
}

const plainHeaders = { "content-type": "application/problem+json", "x-content-type-options": "nosniff" };

/** What is no request, or comes too slowly to become one, never reaches the app; it is answered in the same shape. */
function refuseUnreadable(error: Pick<NodeJS.ErrnoException, "code">, socket: Duplex): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  const reason = makeFailure("request_unreadable", { why: unreadable[error.code ?? ""] ?? "syntax" });
  const problem = problemOf(reason, { language: "en", requestId: "" });
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    ...Object.entries(plainHeaders).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

const unreadable: Readonly<Record<string, "headers" | "slow">> = {
  HPE_HEADER_OVERFLOW: "headers",
  ERR_HTTP_REQUEST_TIMEOUT: "slow",
};

/** Nobody but this machine can call it there. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}

/** The first port after this one that nobody listens on. */
export async function freePortAfter({ host, port }: { readonly host: string; readonly port: number }): Promise<number> {
  for (let next = port + 1; next <= Math.min(port + portsTriedMax, portMax); next += 1) {
    const probe = createServer();
    if ((await open(probe, () => probe.listen({ host, port: next }))) !== undefined) continue;
    await new Promise((resolve) => probe.close(resolve));
    return next;
  }
  return 0;
}

const portMax = 65_535;
const portsTriedMax = 100;

/** A socket that only this user may use. A file left behind by a process that died is replaced, a living one is not. */
async function openSocket(server: Server, path: string): Promise<NodeJS.ErrnoException | undefined> {
  const refusal = await open(server, () => listenPrivately(server, path));
  if (refusal?.code !== "EADDRINUSE" || !(await isLeftBehind(path))) return refusal;
  await unlink(path);
  return open(server, () => listenPrivately(server, path));
}

function listenPrivately(server: Server, path: string): void {
  // The file is made inside the call, so it has mode 0600 from its first moment on.
  const mask = process.umask(0o177);
  try {
    server.listen(path);
  } finally {
    process.umask(mask);
  }
}

async function open(server: Server, start: () => void): Promise<NodeJS.ErrnoException | undefined> {
  try {
    start();
    await once(server, "listening");
    return undefined;
  } catch (error) {
    if (error instanceof Error && systemCode(error) !== undefined) return error;
    throw error;
  }
}

async function isLeftBehind(path: string): Promise<boolean> {
  try {
    if (!(await lstat(path)).isSocket()) return false;
    const probe = connect(path);
    await once(probe, "connect");
    probe.destroy();
    return false;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return systemCode(error) === "ECONNREFUSED";
  }
}

function addressOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === "string") return address ?? "";
  return `http://${hostInAddress(address.address)}:${address.port}`;
}
