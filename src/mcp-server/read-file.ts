import { failed, ok, type Result } from "../base/result.ts";
import type { Client, ClientFailure } from "../client/client.ts";

/** What of a file goes into one answer; whoever wants more asks for the next part. */
const textCharactersMax = 100_000;

export type FilePart = {
  readonly bytes: number;
  /** Undefined: no text that can be read as UTF-8. */
  readonly text: string | undefined;
  /** The first line that is not in it, from 1 on; undefined at the end of the file. */
  readonly next: number | undefined;
};

/** Lines of a file. Of a large one no more is read than up to the last of them. */
export async function readLines(
  client: Client,
  file: { readonly conversation: string; readonly path: string },
  { from, count, signal }: { readonly from: number; readonly count: number; readonly signal: AbortSignal },
): Promise<Result<FilePart, ClientFailure>> {
  const enough = new AbortController();
  const download = await client.download(file.conversation, file.path, {
    signal: AbortSignal.any([signal, enough.signal]),
  });
  if (!download.ok) return failed(download.failure);
  const { bytes, chunks } = download.value;
  const lines = new LinesTaken(from, count);
  try {
    for await (const chunk of chunks) {
      if (!lines.take(chunk)) break;
    }
  } finally {
    enough.abort();
  }
  return ok({ bytes, text: lines.isText ? lines.text : undefined, next: lines.next });
}

/** Stands where the rest of a line is left out. */
const cutMark = " […]\n";

class LinesTaken {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  readonly #from: number;
  readonly #upTo: number;
  #line = 1;
  /** The rest of the line has no room: it is passed over, and the next page begins with the next line. */
  #isCut = false;
  isText = true;
  text = "";
  next: number | undefined;

  constructor(from: number, count: number) {
    this.#from = from;
    this.#upTo = from + count;
  }

  /** False: nothing further is wanted. */
  take(chunk: Uint8Array): boolean {
    const decoded = chunk.includes(0) ? undefined : decodedBy(this.#decoder, chunk);
    this.isText = decoded !== undefined;
    if (decoded === undefined) return false;
    // Each piece ends with its line's end, but for the last one, whose line goes on.
    for (const piece of decoded.split(/(?<=\n)/)) {
      const isEnd = piece.endsWith("\n");
      if (this.#line >= this.#upTo || (this.text.length >= textCharactersMax && !this.#isCut)) {
        this.next = this.#line;
        return false;
      }
      if (this.#line >= this.#from && !this.#isCut) {
        const room = textCharactersMax - this.text.length;
        this.#isCut = piece.length > room || (piece.length === room && !isEnd);
        this.text += this.#isCut ? `${piece.slice(0, room)}${cutMark}` : piece;
      }
      if (!isEnd) continue;
      this.#line += 1;
      this.#isCut = false;
    }
    return true;
  }
}

/** Undefined for what is no UTF-8. */
function decodedBy(decoder: TextDecoder, chunk: Uint8Array): string | undefined {
  try {
    return decoder.decode(chunk, { stream: true });
  } catch {
    return undefined;
  }
}

/** All of a file that is no larger than that; undefined for a larger one. */
export async function readWhole(
  client: Client,
  file: { readonly conversation: string; readonly path: string },
  { bytesMax, signal }: { readonly bytesMax: number; readonly signal: AbortSignal },
): Promise<Result<{ readonly size: number; readonly bytes: Buffer | undefined }, ClientFailure>> {
  const leave = new AbortController();
  const download = await client.download(file.conversation, file.path, {
    signal: AbortSignal.any([signal, leave.signal]),
  });
  if (!download.ok) return failed(download.failure);
  const { bytes: size, chunks } = download.value;
  if (size > bytesMax) {
    leave.abort();
    return ok({ size, bytes: undefined });
  }
  const taken: Uint8Array[] = [];
  for await (const chunk of chunks) taken.push(chunk);
  return ok({ size, bytes: Buffer.concat(taken) });
}

/** Undefined for what is no text that can be read as UTF-8. */
export function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const pictures = new Map(
  Object.entries({ png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp" }),
);

/** By its name; undefined for everything that models do not see. */
export function pictureType(path: string): string | undefined {
  return pictures.get(path.slice(path.lastIndexOf(".") + 1).toLowerCase());
}
