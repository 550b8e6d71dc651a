/** `frame` becomes the name of the event. */
type AnyFrame = { readonly frame: string };
type Frames<F> = AsyncGenerator<F[], void, undefined>;

/** Frames as server-sent events. Ends with its signal and when the reader goes; leaves nothing listening behind. */
export function eventStream<F extends AnyFrame>(
  open: (signal: AbortSignal) => Frames<F>,
  { idOf, signal, onFault }: StreamOptions<F>,
): ReadableStream<Uint8Array> {
  const end = new AbortController();
  const ended = AbortSignal.any([signal, end.signal]);
  const frames = open(ended);
  // The signal wakes frames that are being waited for; those that rest, because their reader is slow, are ended here.
  ended.addEventListener("abort", () => void frames.return());
  return new ReadableStream(
    {
      async pull(controller) {
        const batch = await nextBatch(frames, onFault);
        // After a cancel the stream takes nothing more, not even its end.
        if (end.signal.aborted) return;
        if (batch !== undefined)
          return controller.enqueue(encoder.encode(batch.map((frame) => serverSentEvent(frame, idOf(frame))).join("")));
        controller.close();
        end.abort();
      },
      cancel: () => end.abort(),
    },
    // Nothing is made before it is asked for.
    { highWaterMark: 0 },
  );
}

type StreamOptions<F> = {
  /** How far a reader has come that has this frame, if it is a place to go on from. */
  readonly idOf: (frame: F) => number | string | undefined;
  readonly signal: AbortSignal;
  readonly onFault: (error: unknown) => void;
};

const encoder = new TextEncoder();

/** The headers are out by now: of our own mistakes the reader only sees the end, and comes back. */
async function nextBatch<F>(frames: Frames<F>, onFault: (error: unknown) => void): Promise<F[] | undefined> {
  try {
    const { done, value } = await frames.next();
    return done ? undefined : value;
  } catch (error) {
    onFault(error);
    return undefined;
  }
}

function serverSentEvent(frame: AnyFrame, id: number | string | undefined): string {
  return `event: ${frame.frame}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(frame)}\n\n`;
}
