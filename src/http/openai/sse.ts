import { leave, nextOf, textStream } from "../text-stream.ts";
import type { opened, Pieces } from "./answer.ts";
import type { Piece } from "./pieces.ts";

type Event = Readonly<Record<string, unknown>>;

type Written = {
  readonly pieces: Pieces;
  /** What was waited for before the stream was opened. */
  readonly first: Awaited<ReturnType<typeof opened>>;
  readonly write: (piece: Piece) => readonly Event[];
  /** Said where the stream ends without an end of its own. */
  readonly lastWords: () => readonly Event[];
  /** Fires when the caller is gone or the server closes. */
  readonly signal: AbortSignal;
  /** The caller has left the stream. */
  readonly leave: () => void;
  readonly onThrown: (error: unknown) => void;
};

/** Pieces as lines of `data:`, closed by `[DONE]`. An event with a type is named by it. Pulled: nothing is made ahead. */
export function dataStream(written: Written): ReadableStream<Uint8Array> {
  const { pieces, signal, onThrown } = written;
  // A signal wakes pieces that are being waited for; those that rest, because their reader is slow, are ended here.
  const end = () => leave(pieces, onThrown);
  signal.addEventListener("abort", end);
  const open = (gone: AbortSignal) => {
    gone.addEventListener("abort", written.leave);
    gone.addEventListener("abort", end);
    return texts(written);
  };
  // Only its reader cuts it off: when the server closes, the last words are still to be said.
  return textStream(open, { signal: new AbortController().signal, onThrown });
}

async function* texts(written: Written): AsyncGenerator<string, void, undefined> {
  const said = batches(written);
  try {
    for (let next = await nextOf(said, written.onThrown); next !== undefined; ) {
      yield next.text;
      if (next.isLast) return;
      next = await nextOf(said, written.onThrown);
    }
  } finally {
    await said.return();
  }
  yield written.lastWords().map(line).join("") + done;
}

type Batch = { readonly text: string; readonly isLast: boolean };

async function* batches(written: Written): AsyncGenerator<Batch, void, undefined> {
  const textOf = (batch: readonly Piece[]): Batch => {
    const isLast = batch.some(({ piece }) => piece === "end");
    return { text: batch.map((piece) => linesOf(piece, written)).join("") + (isLast ? done : ""), isLast };
  };
  yield textOf(written.first);
  for await (const batch of written.pieces) yield textOf(batch);
}

const done = "data: [DONE]\n\n";

function linesOf(piece: Piece, { write }: Written): string {
  return piece.piece === "ping" ? ": ping\n\n" : write(piece).map(line).join("");
}

function line(event: Event): string {
  const name = typeof event.type === "string" ? `event: ${event.type}\n` : "";
  return `${name}data: ${JSON.stringify(event)}\n\n`;
}
