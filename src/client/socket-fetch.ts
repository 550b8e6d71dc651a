import { type ClientRequest, request } from "node:http";
import { Readable } from "node:stream";
import type { Clock } from "../base/clock.ts";
import type { Fetch } from "./client.ts";

/** A fetch over a local socket. The host part of the address is not looked up. */
export function socketFetch(socketPath: string, clock: Clock): Fetch {
  return (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const { pathname, search, host } = new URL(url);
      // Before anything is opened: a stream that was sent once is refused here.
      const source = body instanceof ReadableStream ? Readable.fromWeb(body) : undefined;
      const outgoing = request({
        socketPath,
        method,
        path: pathname + search,
        headers: { ...headers, host },
        agent: false,
        ...(signal !== undefined && { signal }),
      });
      outgoing.on("error", reject);
      outgoing.on("response", (incoming) => {
        const status = incoming.statusCode ?? 500;
        const received = new Headers();
        for (const [name, values] of Object.entries(incoming.headersDistinct))
          received.set(name, (values ?? []).join(", "));
        resolve(new Response(status === 204 ? null : Readable.toWeb(incoming), { status, headers: received }));
      });
      if (source === undefined) outgoing.end(body);
      else void sendUnlessRefused(source, outgoing, { clock, announcedBytes: Number(headers["content-length"] ?? 0) });
    });
}

/** From this size on it is worth waiting for a refusal: who answers and hangs up in the middle may not be heard. */
const largeBytes = 4 * 1024 * 1024;
const refusalMsMax = 1_000;

async function sendUnlessRefused(
  source: Readable,
  outgoing: ClientRequest,
  { clock, announcedBytes }: { readonly clock: Clock; readonly announcedBytes: number },
): Promise<void> {
  if (announcedBytes >= largeBytes) {
    outgoing.flushHeaders();
    const waiting = new AbortController();
    const answered = () => waiting.abort();
    outgoing.once("response", answered).once("close", answered);
    if ((await clock.wait(refusalMsMax, waiting.signal)) === "aborted") return void source.destroy();
  }
  send(source, outgoing);
}

/** No faster than the other side takes it, and no longer: who answers before the end does not want the rest. */
function send(source: Readable, outgoing: ClientRequest): void {
  const leave = () => void source.unpipe(outgoing).destroy();
  outgoing.once("response", leave);
  outgoing.once("close", leave);
  source.on("error", (error) => outgoing.destroy(error));
  source.pipe(outgoing);
}
