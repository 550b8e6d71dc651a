import type { StreamFrame } from "../protocol/resources.ts";

type Frames = AsyncGenerator<StreamFrame[], void, undefined>;

/** Frames as server-sent events. Ends with its signal and when the reader goes; leaves nothing listening behind. */
export function eventStream(
  open: (signal: AbortSignal) => Frames,
  { signal, onFault }: { signal: AbortSignal; onFault: (error: unknown) => void },
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
        if (batch !== undefined) return controller.enqueue(encoder.encode(batch.map(serverSentEvent).join("")));
        controller.close();
        end.abort();
      },
      cancel: () => end.abort(),
    },
    // Nothing is made before it is asked for.
    { highWaterMark: 0 },
  );
}

const encoder = new TextEncoder();

/** The headers are out by now: of our own mistakes the reader only sees the end, and comes back. */
async function nextBatch(frames: Frames, onFault: (error: unknown) => void): Promise<StreamFrame[] | undefined> {
  try {
    const { done, value } = await frames.next();
    return done ? undefined : value;
  } catch (error) {
    onFault(error);
    return undefined;
  }
}

function serverSentEvent(frame: StreamFrame): string {
  const id = frame.frame === "event" ? `id: ${frame.event.seq}\n` : "";
  return `event: ${frame.frame}\n${id}data: ${JSON.stringify(frame)}\n\n`;
}
