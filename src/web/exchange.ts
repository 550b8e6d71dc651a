import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { failed, ok, type Result } from "../base/result.ts";
import { type ReadBody, readBody } from "./body.ts";
import type { Fault, FetchLimits } from "./guarded-fetch.ts";
import type { Place } from "./place.ts";

export type Sent = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
};
export type Received = ReadBody & { readonly status: number; readonly headers: IncomingHttpHeaders };
type Options = { readonly limits: FetchLimits; readonly signal: AbortSignal };

/** One request over a connection of its own, which is gone when this settles. */
export async function exchange(
  socket: Socket,
  place: Place,
  sent: Sent,
  options: Options,
): Promise<Result<Received, Fault>> {
  const answered = await answerTo(socket, place, sent, options);
  if (!answered.ok) return answered;
  const response = answered.value;
  const { statusCode: status = 0, headers } = response;
  const isEmpty = sent.method === "HEAD" || isRedirect(status) || status === 204 || status === 304;
  const body = isEmpty ? ok({ bytes: Buffer.alloc(0), isCut: false }) : await readBody(response, options);
  socket.destroy();
  return body.ok ? ok({ status, headers, ...body.value }) : body;
}

export function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/** The head of the answer, with the content still to come. */
export function answerTo(
  socket: Socket,
  { url }: Place,
  { method, headers, body }: Sent,
  { limits, signal }: Options,
): Promise<Result<IncomingMessage, Fault>> {
  return new Promise((resolve) => {
    const end = (answer: Result<IncomingMessage, Fault>) => {
      signal.removeEventListener("abort", onAbort);
      if (!answer.ok) socket.destroy();
      resolve(answer);
    };
    const onAbort = () => end(failed({ kind: "aborted" }));
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) return onAbort();
    const asked: ClientRequest = request({
      // Nobody but this request knows the connection, and it knows no other.
      createConnection: () => socket,
      ...{ method, path: `${url.pathname}${url.search}`, setHost: false, maxHeaderSize: limits.headBytesMax },
      headers: { ...headers, host: url.host, connection: "close" },
    });
    // One that came through a proxy was held while the proxy spoke.
    asked.once("socket", () => socket.resume());
    asked.once("response", (response) => end(ok(response)));
    // A server that wants to speak something else.
    asked.once("upgrade", () => end(failed({ kind: "failed", why: "broken" })));
    asked.on("error", ({ code }: NodeJS.ErrnoException) =>
      end(failed({ kind: "failed", why: code === "HPE_HEADER_OVERFLOW" ? "headers" : "broken" })),
    );
    asked.end(body);
  });
}
