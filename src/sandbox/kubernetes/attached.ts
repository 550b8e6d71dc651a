import { Duplex } from "node:stream";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { parsedObject } from "../../base/json.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { keepFirstWords } from "../guest/first-words.ts";
import { type CallFault, callFault } from "../guest/http-call.ts";
import type { ClusterApi } from "./api.ts";
import { clientOver, websocketHeaders } from "./websocket.ts";

/** What the first process of a pod reads and writes, over the connection that the API server attached. */
export type Attached = {
  /** Its standard input and its standard output. It stays open for who listens until `release`. */
  readonly stdio: Duplex;
  /** The beginning of what it wrote to its standard error, and what the cluster said last. */
  said(): string;
  /** Resolves when nothing more can come. */
  readonly over: Promise<void>;
};

/** The first byte of a message says of which stream it is. */
const channels = { stdin: 0, stdout: 1, stderr: 2, status: 3 };
/** Newest first: older API servers hand the connection on to a kubelet, which speaks the older one. */
const protocols = ["v5.channel.k8s.io", "v4.channel.k8s.io"];
const statusCharactersMax = 8 * 1024;
const messageBytesMax = 32 * 1024;

/** A connection on which nothing is heard for so long, not even the answer to a ping, leads nowhere any more. */
const pingMs = 15_000;
const silenceMsMax = 3 * pingMs;

type Place = { readonly api: ClusterApi; readonly clock: Clock; readonly ids: Ids };

export async function attach({ api, clock, ids }: Place, pod: string): Promise<Result<Attached, CallFault>> {
  const { headers, accept } = websocketHeaders(ids, protocols);
  const wanted = "container=sandbox&stdin=true&stdout=true&stderr=true&tty=false";
  const upgraded = await api.upgrade(`${pod}/attach?${wanted}`, headers);
  if (!upgraded.ok) return upgraded;
  const { socket, headers: told } = upgraded.value;
  if (told["sec-websocket-accept"] === accept && protocols.includes(told["sec-websocket-protocol"] ?? ""))
    return ok(attachedOver(socket, { clock, ids }));
  socket.destroy();
  return failed(callFault("broken_off", "no WebSocket of Kubernetes"));
}

function attachedOver(socket: Duplex, { clock, ids }: Pick<Place, "clock" | "ids">): Attached {
  const said = keepFirstWords();
  let status = "";
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  let heardAt = clock.monotonic();
  const link = clientOver(socket, ids, {
    message(payload) {
      const [channel] = payload;
      const bytes = payload.subarray(1);
      if (channel === channels.stdout) {
        if (bytes.length > 0 && !stdio.destroyed) stdio.push(bytes);
      } else if (channel === channels.stderr) {
        said.add(bytes);
      } else if (channel === channels.status) {
        const { message } = parsedObject(bytes.toString("utf8")) ?? {};
        if (typeof message === "string") status = message.slice(0, statusCharactersMax);
      }
    },
    sign() {
      heardAt = clock.monotonic();
    },
    over: end,
  });
  const stdio = new Duplex({
    read() {},
    write(chunk: Buffer, _, done) {
      for (let start = 0; start < chunk.length; start += messageBytesMax) {
        const piece = chunk.subarray(start, start + messageBytesMax);
        const isLast = start + messageBytesMax >= chunk.length;
        link.send(Buffer.concat([Buffer.from([channels.stdin]), piece]), isLast ? () => done() : undefined);
      }
      if (chunk.length === 0) done();
    },
    destroy(error, done) {
      link.end();
      done(error);
    },
  });
  const watchSilence = () => {
    if (socket.destroyed) return;
    if (clock.monotonic() - heardAt > silenceMsMax) return link.end();
    link.ping();
    // Only what goes through to the node keeps it from taking the stream for forgotten.
    stdio.write(keepAlive);
    clock.after(pingMs, watchSilence);
  };
  clock.after(pingMs, watchSilence);
  return { stdio, over, said: () => said.text() || status };
}

/** A piece for the control link with nothing in it, see guest/stdio.ts. */
const keepAlive = Buffer.alloc(5);
