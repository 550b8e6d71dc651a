import { type Collected, createCollected, pieceEnd, textOf } from "./collected.ts";
import type { OutputPlace, ProgramOutput } from "./sandbox.ts";

type Stream = ProgramOutput["stream"];

/**
 * What a program says, for any number of readers that come at any time: from any place on, then as it comes. A reader
 * may be as slow as it likes: it hears all that is kept, and of what is not it hears how much that is.
 */
export interface LiveOutput {
  readonly stdout: Collected;
  readonly stderr: Collected;
  add(stream: Stream, bytes: Uint8Array): void;
  /** After what was said so far, every reader's loop ends. */
  end(): void;
  read(after?: OutputPlace): AsyncIterable<ProgramOutput>;
  keptBytes(): number;
  /** Once it is over: from now on only the beginning and the end are kept. */
  shorten(): void;
}

/** What is kept of each stream that is shortened. */
const shortBytesMax = 512 * 1024;
/** How often the streams may change; after that each is told for itself. */
const stretchesMax = 50_000;
const stretchBytes = 64;

/** A stretch of one stream up to this byte, before the other one had its say. */
type Stretch = { readonly stream: Stream; to: number };

export function createLiveOutput(): LiveOutput {
  const streams = { stdout: createCollected(), stderr: createCollected() };
  const told = { stdout: 0, stderr: 0 };
  let stretches: Stretch[] = [];
  /** The last stretch may still grow. */
  let isInOrder = true;
  let isEnded = false;
  let waiting: (() => void)[] = [];
  const wake = () => {
    const woken = waiting;
    waiting = [];
    for (const go of woken) go();
  };

  function note(stream: Stream): void {
    const to = streams[stream].whole();
    if (to === told[stream]) return;
    told[stream] = to;
    const last = stretches.at(-1);
    if (isInOrder && last?.stream !== stream) isInOrder = stretches.length < stretchesMax;
    if (!isInOrder) return;
    if (last?.stream === stream) last.to = to;
    else stretches.push({ stream, to });
  }

  return {
    ...streams,
    add(stream, bytes) {
      streams[stream].add(bytes);
      note(stream);
      wake();
    },
    end() {
      for (const stream of names) {
        streams[stream].end();
        note(stream);
      }
      isEnded = true;
      wake();
    },
    async *read(after = { stdout: 0, stderr: 0 }) {
      const at = { ...after };
      for (let next = 0; ; ) {
        const stretch = stretches[next];
        const stream = stretch?.stream ?? (at.stdout < told.stdout ? "stdout" : "stderr");
        const to = stretch?.to ?? told[stream];
        if (at[stream] < to) {
          const { text, cutBytes, to: reached } = streams[stream].piece(at[stream], to);
          at[stream] = reached;
          yield { stream, text, cutBytes, at: { ...at } };
        } else if (next < stretches.length - (isInOrder ? 1 : 0)) next += 1;
        else if (isEnded) break;
        else await new Promise<void>((go) => waiting.push(go));
      }
      yield* beyond(streams, at);
    },
    keptBytes: () => streams.stdout.keptBytes() + streams.stderr.keptBytes() + stretches.length * stretchBytes,
    shorten() {
      for (const stream of names) streams[stream].shorten(shortBytesMax);
      if (stretches.length * stretchBytes <= shortBytesMax) return;
      stretches = [];
      isInOrder = false;
    },
  };
}

const names = ["stdout", "stderr"] as const;

/** What was said beyond the limit: how much of it is lost, then its end. Told once, also to who comes again. */
function* beyond(streams: Readonly<Record<Stream, Collected>>, at: Record<Stream, number>): Generator<ProgramOutput> {
  for (const stream of names) {
    const { lostBytes, bytes } = streams[stream].rest();
    const start = streams[stream].whole() + lostBytes;
    const cutBytes = start - at[stream];
    if (cutBytes > 0) {
      at[stream] = start;
      yield { stream, text: "", cutBytes, at: { ...at } };
    }
    for (let from = at[stream] - start; from < bytes.length; from = at[stream] - start) {
      const to = pieceEnd(bytes, from, bytes.length);
      at[stream] = start + to;
      yield { stream, text: textOf(bytes.subarray(from, to)), cutBytes: 0, at: { ...at } };
    }
  }
}
