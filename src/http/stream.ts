/** `frame` becomes the name of the event. */
type AnyFrame = { readonly frame: string };
type Frames<F> = AsyncGenerator<F[], void, undefined>;

/** No event is longer: what is goes out in parts, which the typed client puts together again. */
const eventBytesMax = 64 * 1024;
/** Of a long event in each part. In JSON a character of JSON becomes at most three bytes. */
const partCharactersMax = 20_000;
/** What is handed to the network at once: all that waits for a slow reader beside its frames. */
const chunkCharactersMin = 16 * 1024;
/** After a broken connection a browser comes back that soon. */
const retryMs = 1_000;

/** Frames as server-sent events. Ends with its signal and when the reader goes; leaves nothing listening behind. */
export function eventStream<F extends AnyFrame>(
  open: (signal: AbortSignal) => Frames<F>,
  { idOf, dataOf = (frame) => frame, signal, onFault }: StreamOptions<F>,
): ReadableStream<Uint8Array> {
  const end = new AbortController();
  const ended = AbortSignal.any([signal, end.signal]);
  const frames = open(ended);
  // The signal wakes frames that are being waited for; those that rest, because their reader is slow, are ended here.
  ended.addEventListener("abort", () => void frames.return());
  let texts: Iterator<string> = [`retry: ${retryMs}\n`][Symbol.iterator]();

  /** Some of what is there, made only now; empty when nothing is. */
  function taken(): string {
    let chunk = "";
    while (chunk.length < chunkCharactersMin) {
      const next = texts.next();
      if (next.done === true) break;
      chunk += next.value;
    }
    return chunk;
  }

  return new ReadableStream(
    {
      async pull(controller) {
        let chunk = taken();
        // The hint goes with the first event: alone it would be none.
        if (!chunk.endsWith("\n\n")) {
          const batch = await nextBatch(frames, onFault);
          // After a cancel the stream takes nothing more, not even its end.
          if (end.signal.aborted) return;
          if (batch === undefined) {
            controller.close();
            return end.abort();
          }
          texts = textsOf(batch, (frame) => serverSentEvents(frame.frame, idOf(frame), dataOf(frame)));
          chunk += taken();
        }
        controller.enqueue(encoder.encode(chunk));
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
  /** What is sent of a frame; all of it unless said otherwise. */
  readonly dataOf?: (frame: F) => object;
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

function* textsOf<F>(batch: readonly F[], textOf: (frame: F) => Iterable<string>): Generator<string, void, undefined> {
  for (const frame of batch) yield* textOf(frame);
}

function* serverSentEvents(name: string, id: number | string | undefined, data: object): Generator<string, void> {
  const json = JSON.stringify(data);
  const whole = serverSentEvent(name, id, json);
  if (whole.length * 3 <= eventBytesMax || Buffer.byteLength(whole) <= eventBytesMax) return yield whole;
  const count = Math.ceil(json.length / partCharactersMax);
  for (let index = 0; index < count; index += 1) {
    const text = json.slice(index * partCharactersMax, (index + 1) * partCharactersMax);
    const part = { frame: "part", of: String(id ?? name), index, count, text };
    // Who has only some of them comes back for all.
    yield serverSentEvent("part", index === count - 1 ? id : undefined, JSON.stringify(part));
  }
}

function serverSentEvent(name: string, id: number | string | undefined, json: string): string {
  return `event: ${name}\n${id === undefined ? "" : `id: ${id}\n`}data: ${json}\n\n`;
}
