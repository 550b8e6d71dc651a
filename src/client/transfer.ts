import { whenOver } from "../base/background.ts";
import { systemCode } from "../base/fault.ts";

export type UploadOptions = {
  /** A file of the same name stays, and this one becomes `name (2)`. */
  readonly keep?: boolean | undefined;
  /** How many a source has, where that is known: what is too large is refused before it is sent. */
  readonly bytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Bytes of a source that have left so far. */
  readonly onProgress?: ((sentBytes: number) => void) | undefined;
};

/** A file on its way here. `chunks` throws, in words, when it breaks off before `bytes` are here. */
export type Download = { readonly bytes: number; readonly chunks: AsyncIterable<Uint8Array> };

export type UploadBody = {
  readonly sent: Uint8Array | ReadableStream<Uint8Array>;
  /** What the source threw, in a list of at most one. */
  readonly faults: readonly unknown[];
  /** Lets go of the source: the platform's fetch reads on to its end, also when it has failed or was answered early. */
  readonly end: () => void;
};

/** A source has more or less bytes than were announced: it changed while it was read. */
export class SourceUnfit extends Error {}

/** A download ended before its time. */
export class BrokenOff extends Error {}

/** Bytes as they are, or a source that is read no faster than it is sent. */
export function openBody(
  data: AsyncIterable<Uint8Array> | Uint8Array,
  { bytes, onProgress }: Pick<UploadOptions, "bytes" | "onProgress"> = {},
): UploadBody {
  if (data instanceof Uint8Array) return { sent: data, faults: [], end: () => {} };
  const pieces = data[Symbol.asyncIterator]();
  const faults: unknown[] = [];
  const ended = new AbortController();
  let sentBytes = 0;
  const sent = new ReadableStream<Uint8Array>(
    {
      start: (controller) => ended.signal.addEventListener("abort", () => controller.error(ended.signal.reason)),
      async pull(controller) {
        try {
          const { done, value } = await nextPiece(pieces);
          if (ended.signal.aborted) return;
          sentBytes += done ? 0 : value.length;
          // Whoever reads waits for exactly what was announced, and takes more for something else.
          const isUnfit = bytes !== undefined && (done ? sentBytes < bytes : sentBytes > bytes);
          if (isUnfit) throw new SourceUnfit("the source has not as many bytes as announced");
          if (done) return controller.close();
          controller.enqueue(value);
          onProgress?.(sentBytes);
        } catch (error) {
          if (!ended.signal.aborted) faults.push(error);
          // Who lets go of a source may well have closed it. Anything else is a mistake that nobody waits for any more.
          else if (systemCode(error) === undefined) void Promise.reject(error);
          controller.error(error);
        }
      },
      cancel: () => end(),
    },
    { highWaterMark: 0 },
  );
  function end(): void {
    if (ended.signal.aborted) return;
    ended.abort();
    // A source that is just being waited for ends when it comes to it.
    void whenOver(Promise.resolve(pieces.return?.()));
  }
  return { sent, faults, end };
}

/** An empty piece would end the body on some ways. */
async function nextPiece(pieces: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array, unknown>> {
  for (;;) {
    const piece = await pieces.next();
    if (piece.done || piece.value.length > 0) return piece;
  }
}

/** The body of an answer. Whatever ends it before its time is thrown in these words. */
export async function* piecesOf(
  body: ReadableStream<Uint8Array>,
  { bytes, signal, brokenOff }: { bytes: number; signal: AbortSignal | undefined; brokenOff: string },
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  const stop = () => void reader.cancel().catch(() => undefined);
  signal?.addEventListener("abort", stop);
  if (signal?.aborted) stop();
  let received = 0;
  const breakOff = (cause?: unknown): never => {
    signal?.throwIfAborted();
    throw new BrokenOff(brokenOff, { cause });
  };
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(breakOff);
      if (done) break;
      received += value.length;
      yield value;
    }
  } finally {
    signal?.removeEventListener("abort", stop);
    stop();
  }
  if (received !== bytes) breakOff();
}
