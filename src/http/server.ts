import { once } from "node:events";
import { lstat, unlink } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { connect } from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { Clock } from "../base/clock.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { App, Door } from "./door.ts";

export type ListenAddress = { readonly socketPath: string } | { readonly host: string; readonly port: number };

/** `taken`: somebody answers there already. */
export type ListenFailure = { readonly reason: "taken" | "refused"; readonly said: string };

export type Listening = {
  /** The path of the socket, or `http://host:port`. */
  readonly address: string;
  /** Ends streams at once, gives other requests a moment to finish, then closes. */
  readonly close: () => Promise<void>;
};

const closeGraceMs = 2_000;
/** For all of a request to come in: an upload over a slow line takes its time. Headers alone have Node's minute. */
const requestTimeoutMs = 3_600_000;

/** Opens the app to the network or to other processes of the same user. */
export async function listen(
  app: App,
  at: ListenAddress,
  { clock }: { clock: Clock },
): Promise<Result<Listening, ListenFailure>> {
  const closing = new AbortController();
  const door: Door = { door: "socketPath" in at ? "socket" : "tcp", closing: closing.signal };
  // The adapter would otherwise put its own Request and Response in place of the global ones.
  const answer = getRequestListener(
    (request, { outgoing }) => app.fetch(request, { ...door, breakOff: () => void outgoing.destroy() }),
    { overrideGlobalObjects: false },
  );
  const server = createServer({ requestTimeout: requestTimeoutMs }, (incoming, outgoing) => {
    outgoing.once("close", () => {
      if (closing.signal.aborted) server.closeIdleConnections();
    });
    void answer(incoming, outgoing);
  });
  const refusal =
    "socketPath" in at ? await openSocket(server, at.socketPath) : await open(server, () => server.listen(at));
  if (refusal !== undefined)
    return failed({ reason: refusal.code === "EADDRINUSE" ? "taken" : "refused", said: refusal.message });
  return ok({
    address: addressOf(server),
    async close() {
      closing.abort();
      const cancelForce = clock.after(closeGraceMs, () => server.closeAllConnections());
      await new Promise((resolve) => server.close(resolve));
      cancelForce();
    },
  });
}

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
    if (error instanceof Error) return error;
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
    return error instanceof Error && "code" in error && error.code === "ECONNREFUSED";
  }
}

function addressOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === "string") return address ?? "";
  return `http://${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`;
}
