import type { IncomingMessage } from "node:http";
import type { Transform } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { failed, ok, type Result } from "../base/result.ts";
import type { Fault, FetchLimits } from "./guarded-fetch.ts";

export type ReadBody = { readonly bytes: Buffer /** There was more than may be read. */; readonly isCut: boolean };

/** What we can unpack, as a request says it. */
export const acceptedEncodings = "gzip, deflate, br";

/**
 * The content of an answer, unpacked while it comes and never more of it than the limit: a few bytes that stand for
 * gigabytes are cut off when enough have come out.
 */
export function readBody(
  response: IncomingMessage,
  { limits, signal }: { readonly limits: FetchLimits; readonly signal: AbortSignal },
): Promise<Result<ReadBody, Fault>> {
  const unpack = unpackerOf(response.headers["content-encoding"]);
  if (unpack === "unknown") return Promise.resolve(failed({ kind: "failed", why: "encoding" }));
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let packedBytes = 0;
    let bytes = 0;
    const content = unpack === undefined ? response : response.pipe(unpack);
    const end = (answer: Result<ReadBody, Fault>) => {
      // First of all: what is ended here tells of its end at once.
      resolve(answer);
      signal.removeEventListener("abort", onAbort);
      response.destroy();
      unpack?.destroy();
    };
    const whole = (isCut: boolean) => end(ok({ bytes: Buffer.concat(pieces).subarray(0, limits.bodyBytesMax), isCut }));
    const onAbort = () => end(failed({ kind: "aborted" }));
    const onBroken = (why: "broken" | "encoding") => end(failed({ kind: "failed", why }));
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) return onAbort();
    response.on("data", (chunk: Buffer) => {
      packedBytes += chunk.length;
      // What is packed is smaller than what comes out; more of it than that is only there to be sent.
      if (packedBytes > limits.bodyBytesMax + packedBytesOver) whole(true);
    });
    content.on("data", (chunk: Buffer) => {
      pieces.push(chunk);
      bytes += chunk.length;
      if (bytes > limits.bodyBytesMax) whole(true);
    });
    content.once("end", () => (response.complete ? whole(false) : onBroken("broken")));
    response.once("error", () => onBroken("broken")).once("aborted", () => onBroken("broken"));
    unpack?.once("error", () => onBroken("encoding"));
  });
}

/** Of a short answer, what is packed may be longer. */
const packedBytesOver = 1024 ** 2;

/** What takes the content out of its packing; `undefined` where it is not packed. */
export function unpackerOf(encoding: string | undefined): Transform | "unknown" | undefined {
  const name = encoding?.trim().toLowerCase() ?? "";
  // Many servers leave the end of what they pack away.
  const lenient = { finishFlush: constants.Z_SYNC_FLUSH };
  if (name === "" || name === "identity") return undefined;
  if (name === "gzip" || name === "x-gzip") return createGunzip(lenient);
  if (name === "deflate") return createInflate(lenient);
  return name === "br" ? createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH }) : "unknown";
}
