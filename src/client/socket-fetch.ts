import { request } from "node:http";
import { Readable } from "node:stream";
import type { Fetch } from "./client.ts";

/** A fetch over a local socket. The host part of the address is not looked up. */
export function socketFetch(socketPath: string): Fetch {
  return (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const { pathname, search, host } = new URL(url);
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
      outgoing.end(body);
    });
}
