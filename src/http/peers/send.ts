import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";
import type { Clock } from "../../base/clock.ts";
import { throwUnlessNetwork } from "../../base/fault.ts";
import { bareHost } from "../../base/host.ts";
import { BrokenOff } from "../../workspace/workspace.ts";

/** A request on its way to another server. */
export type Outgoing = {
  readonly to: { readonly server: string /** `host:port`. */; readonly address: string };
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | AsyncIterable<Uint8Array> | undefined;
  /** Fires when nobody waits for the answer any more. */
  readonly gone: AbortSignal;
  /** Fires when this server ends: then a stream does, so that its reader comes back elsewhere. */
  readonly closing: AbortSignal;
  /** Ends the caller's connection in the middle of an answer; false: there is none. */
  readonly breakOff: () => boolean;
};

/** `unreached`: no byte of an answer came. `wasSent`: nobody knows whether it was done. */
export type Sent = { readonly answer: Response } | { readonly unreached: { readonly wasSent: boolean } };

/** Speaks with other servers over connections that stay open. */
export type Sending = {
  send(outgoing: Outgoing): Promise<Sent>;
  /** This server is gone: what is on its way to it, or from it, will not arrive, but for what it has said already. */
  giveUp(server: string): void;
};

const freeSocketsMax = 64;
/** So long is a connection to a server waited for that may hang. */
const connectMsMax = 2_000;
/** One that ends in order answers whatever has come; that it left may be heard before that. */
const lastWordMs = 500;

export function openSending(clock: Clock): Sending {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: freeSocketsMax });
  const open = new Map<ClientRequest, string>();
  return {
    send(outgoing) {
      const asking = begin(agent, outgoing);
      open.set(asking, outgoing.to.server);
      asking.once("close", () => open.delete(asking));
      return answerTo(asking, outgoing);
    },
    giveUp(server) {
      clock.after(lastWordMs, () => {
        for (const [asking, to] of open) if (to === server) asking.destroy(reset());
      });
    },
  };
}

function reset(): Error {
  return Object.assign(new Error("the other server is gone"), { code: "ECONNRESET" });
}

function begin(agent: Agent, { to, method, path, headers, gone }: Outgoing): ClientRequest {
  const { hostname, port } = new URL(`http://${to.address}`);
  return request({ agent, host: bareHost(hostname), port, method, path, headers, signal: gone });
}

function answerTo(asking: ClientRequest, { body, gone, closing, breakOff }: Outgoing): Promise<Sent> {
  let isConnected = false;
  asking.once("socket", (socket) => {
    const connected = () => {
      isConnected = true;
      socket.setTimeout(0);
    };
    if (!socket.connecting) return connected();
    // From then on it takes the time it takes.
    socket.once("connect", connected);
    socket.setTimeout(connectMsMax, () => asking.destroy(reset()));
  });
  return new Promise<Sent>((resolve, reject) => {
    asking.once("response", (incoming) => {
      const isSent = asking.writableFinished;
      // Who refuses a body may not have read it, and ends the connection over the rest: the next request is not sent into that.
      if (!isSent || (body !== undefined && (incoming.statusCode ?? 0) >= 400)) asking.shouldKeepAlive = false;
      if (!isSent) incoming.once("close", () => asking.destroy());
      resolve({ answer: answerOf(incoming, { closing, breakOff }) });
    });
    asking.on("error", (error) => {
      try {
        throwUnlessNetwork(error, gone);
        resolve({ unreached: { wasSent: isConnected } });
      } catch (mistake) {
        reject(mistake);
      }
    });
    if (body === undefined || body instanceof Uint8Array) return void asking.end(body);
    // What is refused for its length or its name is refused before any of it has come.
    asking.flushHeaders();
    pour(body, asking).catch((mistake) => {
      reject(mistake);
      asking.destroy(reset());
    });
  });
}

/** No faster than it is taken, and no longer: who answers before the end does not want the rest. */
async function pour(body: AsyncIterable<Uint8Array>, asking: ClientRequest): Promise<void> {
  const over = Promise.withResolvers<"over">();
  const end = () => over.resolve("over");
  asking.once("close", end).once("response", end);
  try {
    for await (const piece of body) {
      const taken = new Promise<"taken">((resolve) => asking.write(piece, () => resolve("taken")));
      if ((await Promise.race([taken, over.promise])) === "over") return;
    }
    asking.end();
  } catch (error) {
    if (!(error instanceof BrokenOff)) throw error;
    asking.destroy(reset());
  }
}

/** What is about one connection, and what each server says itself. */
const ownHeaders = new Set(["connection", "keep-alive", "transfer-encoding", "date", "upgrade", "trailer"]);

type Towards = Pick<Outgoing, "closing" | "breakOff">;

function answerOf(incoming: IncomingMessage, { closing, breakOff }: Towards): Response {
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct))
    if (!ownHeaders.has(name)) for (const value of values ?? []) headers.append(name, value);
  const status = incoming.statusCode ?? 502;
  if (headers.get("content-type")?.startsWith("text/event-stream") === true) {
    const leave = () => void incoming.destroy(reset());
    closing.addEventListener("abort", leave, { once: true });
    incoming.once("close", () => closing.removeEventListener("abort", leave));
  }
  if (status !== 204 && status !== 304) return new Response(streamOf(incoming, breakOff), { status, headers });
  incoming.resume();
  return new Response(null, { status, headers });
}

/** Read no faster than it is sent. One that breaks off breaks off for the caller, too: half of it must not pass for all. */
function streamOf(incoming: IncomingMessage, breakOff: () => boolean): ReadableStream<Uint8Array> {
  const pieces: AsyncIterator<Uint8Array, undefined> = incoming[Symbol.asyncIterator]();
  let isLeft = false;
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await pieces.next();
          if (isLeft) return;
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          throwUnlessNetwork(error);
          if (isLeft) return;
          if (breakOff()) controller.close();
          else controller.error(error);
        }
      },
      cancel() {
        isLeft = true;
        incoming.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}
