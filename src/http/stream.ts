import { textStream } from "./text-stream.ts";

/** `frame` becomes the name of the event. */
type AnyFrame = { readonly frame: string };
type Frames<F> = AsyncGenerator<F[], void, undefined>;

/** No event is longer: what is goes out in parts, which the typed client puts together again. */
const eventBytesMax = 64 * 1024;
/** Each part has so much of a long event. In JSON a character of JSON becomes at most three bytes. */
const partCharactersMax = 20_000;
/** What is handed to the network at once: all that waits for a slow reader beside its frames. */
const chunkCharactersMin = 16 * 1024;
/** After a broken connection a browser comes back that soon. */
const retryMs = 1_000;

/** Frames as server-sent events. Ends with its signal and when the reader goes; leaves nothing listening behind. */
export function eventStream<F extends AnyFrame>(
  open: (signal: AbortSignal) => Frames<F>,
  { idOf, dataOf = (frame) => frame, signal, onThrown }: StreamOptions<F>,
): ReadableStream<Uint8Array> {
  const textsOf = (frame: F) => serverSentEvents(frame.frame, idOf(frame), dataOf(frame));
  return textStream((ended) => chunksOf(open(ended), textsOf), { signal, onThrown });
}

/** Events put together to chunks, each made when it is asked for. */
async function* chunksOf<F>(frames: Frames<F>, textsOf: (frame: F) => Iterable<string>): AsyncGenerator<string, void> {
  // The hint goes with the first event: alone it would be none.
  let chunk = `retry: ${retryMs}\n`;
  for await (const batch of frames) {
    for (const text of batch.values().flatMap(textsOf)) {
      chunk += text;
      if (chunk.length < chunkCharactersMin) continue;
      yield chunk;
      chunk = "";
    }
    if (!chunk.endsWith("\n\n")) continue;
    yield chunk;
    chunk = "";
  }
}

type StreamOptions<F> = {
  /** How far a reader has come that has this frame, if it is a place to go on from. */
  readonly idOf: (frame: F) => number | string | undefined;
  /** What is sent of a frame; all of it unless said otherwise. */
  readonly dataOf?: (frame: F) => object;
  readonly signal: AbortSignal;
  readonly onThrown: (error: unknown) => void;
};

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
