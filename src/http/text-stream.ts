/** Text as it is pulled. Ends with its signal and when the reader goes; leaves nothing listening behind. */
export function textStream(
  open: (signal: AbortSignal) => AsyncGenerator<string, void, undefined>,
  { signal, onThrown }: { readonly signal: AbortSignal; readonly onThrown: (error: unknown) => void },
): ReadableStream<Uint8Array> {
  const gone = new AbortController();
  const ended = AbortSignal.any([signal, gone.signal]);
  const pieces = open(ended);
  // The signal wakes pieces that are being waited for; those that rest, because their reader is slow, are ended here.
  ended.addEventListener("abort", () => leave(pieces, onThrown));
  return new ReadableStream(
    {
      async pull(controller) {
        const piece = await nextOf(pieces, onThrown);
        // After a cancel the stream takes nothing more, not even its end.
        if (gone.signal.aborted) return;
        if (piece !== undefined) return controller.enqueue(encoder.encode(piece));
        controller.close();
        gone.abort();
      },
      cancel: () => gone.abort(),
    },
    // Nothing is made before it is asked for.
    { highWaterMark: 0 },
  );
}

const encoder = new TextEncoder();

/**
 * The mouth of every stream. The headers are out by now: of our own mistakes the reader only sees the end, and comes
 * back; the log has the rest.
 */
export async function nextOf<T>(
  made: AsyncGenerator<T, void, undefined>,
  onThrown: (error: unknown) => void,
): Promise<T | undefined> {
  try {
    const { done, value } = await made.next();
    return done ? undefined : value;
  } catch (error) {
    onThrown(error);
    return undefined;
  }
}

/** Ends what makes a stream, when its reader has gone; nobody waits for that. */
export function leave(made: AsyncGenerator<unknown, void, undefined>, onThrown: (error: unknown) => void): void {
  made.return().catch(onThrown);
}
