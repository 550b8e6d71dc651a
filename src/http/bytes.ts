import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";

/** Sent by the forms and scripts of any page without asking first; everything else a browser asks about beforehand. */
const simpleTypes = /^\s*(|text\/plain|multipart\/form-data|application\/x-www-form-urlencoded)\s*(;|$)/i;

/** The bytes of a file on their way in. */
export type IncomingBytes = {
  /** Read no faster than they are taken. Throws when the caller breaks off. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** As the caller said, if it did. */
  readonly announced: number | undefined;
};

export const noBytes: IncomingBytes = {
  chunks: { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }) },
  announced: undefined,
};

/** The body of a route that takes bytes. */
export function openBytes(request: Request): Result<IncomingBytes, Failure<"content_type_unfit">> {
  const type = request.headers.get("content-type") ?? "";
  if (simpleTypes.test(type)) return failure("content_type_unfit", { type: type.slice(0, 80) });
  const length = request.headers.get("content-length") ?? "";
  return ok({ chunks: piecesOf(request), announced: /^\d{1,15}$/.test(length) ? Number(length) : undefined });
}

async function* piecesOf(request: Request): AsyncGenerator<Uint8Array, void, undefined> {
  const { body, signal } = request;
  if (body === null) return;
  signal.throwIfAborted();
  const reader = body.getReader();
  const stop = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", stop);
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
    // A body that was given up reads as ended: half a file must not pass for a whole one.
    request.signal.throwIfAborted();
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

/** Nobody took the body, because the call was refused before: whoever sends it in this process is told to stop. */
export async function leaveBytes({ body }: Request): Promise<void> {
  if (body !== null && !body.locked) await body.cancel().catch(() => undefined);
}
