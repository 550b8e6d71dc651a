import type { Result } from "../base/result.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";
import { type FileStat, type FileStream, shownPath } from "../workspace/workspace.ts";
import { breakOff, type HttpCall } from "./door.ts";
import { refuse } from "./problem.ts";
import { type ByteRange, rangeWanted } from "./range.ts";
import { whileLetIn } from "./while-let-in.ts";

/** A file that was asked for, opened when it is known which part of it is wanted; or an archive made while it is sent. */
export type Download = StoredDownload | { readonly archive: Archive };
type StoredDownload = {
  readonly stat: FileStat;
  readonly open: (range: ByteRange | undefined) => Promise<Result<FileStream, Failure>>;
  /** A browser may show it; otherwise it is a file to be saved. */
  readonly shown?: Shown | undefined;
};

/** As what a file is shown, and what it may do there. */
export type Shown = { readonly type: string; readonly policy: string };

/** A folder as one file, made while it is sent. */
export type Archive = {
  /** With its ending. */
  readonly name: string;
  /** `application/zip` unless said otherwise. */
  readonly type?: string;
  readonly chunks: () => AsyncGenerator<Uint8Array, void, undefined>;
};

type OnThrown = (error: unknown) => void;

export async function sendDownload(c: HttpCall, download: Download, onThrown: OnThrown): Promise<Response> {
  return "archive" in download ? sendArchive(c, download.archive, onThrown) : sendFile(c, download, onThrown);
}

/** Its length is not known before its end, so there are no ranges of it. */
function sendArchive(c: HttpCall, { name, type = "application/zip", chunks }: Archive, onThrown: OnThrown): Response {
  const headers = { "content-type": type, ...attached(name) };
  if (c.req.method === "HEAD") return c.body(null, 200, headers);
  const body = streamOf(chunks(), onThrown, () => breakOff(c));
  return c.body(whileLetIn(c, body), 200, headers);
}

/** Sends a file, or the one range of it that was asked for. */
async function sendFile(c: HttpCall, { stat, open, shown }: StoredDownload, onThrown: OnThrown): Promise<Response> {
  if (c.req.method === "HEAD") return c.body(null, 200, headersOf(stat, stat.bytes, shown));
  const range = rangeWanted(
    { range: c.req.header("range"), ifRange: c.req.header("if-range") },
    stat.bytes,
    tagOf(stat),
  );
  if (range === "unfit") {
    c.header("content-range", `bytes */${stat.bytes}`);
    return refuse(c, makeFailure("range_unfit", { path: shownPath(stat.path), sizeBytes: stat.bytes }));
  }
  const opened = await open(range);
  if (!opened.ok) return refuse(c, opened.failure);
  const body = whileLetIn(
    c,
    streamOf(opened.value.chunks, onThrown, () => breakOff(c)),
  );
  const { stat: now } = opened.value;
  if (range === undefined) return c.body(body, 200, headersOf(now, now.bytes, shown));
  if (tagOf(now) !== tagOf(stat)) {
    await body.cancel();
    return refuse(c, makeFailure("read_failed", { path: shownPath(stat.path), why: "changed" }));
  }
  const { offset, length } = range;
  c.header("content-range", `bytes ${offset}-${offset + length - 1}/${now.bytes}`);
  return c.body(body, 206, headersOf(now, length, shown));
}

/** Not as what the file says it is: a page that somebody uploaded must not run as one of ours. Where it is shown, its policy sees to that. */
function headersOf(stat: FileStat, length: number, shown: Shown | undefined): Record<string, string> {
  const name = stat.path.slice(stat.path.lastIndexOf("/") + 1);
  return {
    "content-type": shown?.type ?? "application/octet-stream",
    "content-length": String(length),
    ...(shown === undefined ? attached(name) : inPlace(name, shown)),
    "accept-ranges": "bytes",
    etag: tagOf(stat),
  };
}

function attached(name: string) {
  return { "content-disposition": dispositionOf(name), "x-content-type-options": "nosniff" };
}

function inPlace(name: string, { policy }: Shown) {
  return {
    "content-disposition": dispositionOf(name).replace("attachment", "inline"),
    "x-content-type-options": "nosniff",
    "content-security-policy": policy,
    "referrer-policy": "no-referrer",
    // A name that is looked up tells what stands in it.
    "x-dns-prefetch-control": "off",
    "cross-origin-resource-policy": "same-origin",
  };
}

/** Tells one content of a file from the next, so that the rest of an old one is not joined to a new one. */
export function tagOf({ bytes, modifiedAt }: Pick<FileStat, "bytes" | "modifiedAt">): string {
  return `"${bytes.toString(36)}-${Math.round(modifiedAt * 1000).toString(36)}"`;
}

/** RFC 6266: the name in UTF-8, and for old readers one in plain letters. */
function dispositionOf(name: string): string {
  const plain = name.replaceAll(/[^ -~]|["\\%]/g, "_");
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

type Pieces = {
  next(): Promise<IteratorResult<Uint8Array, unknown>>;
  return(end: undefined): Promise<unknown>;
};

/**
 * Read no faster than it is sent. The headers have promised a length by the time that reading can fail, so the
 * connection is broken off: the caller must see that this is not all. `breakOff` says whether it was. A mistake of ours is
 * told also when the reader has left.
 */
function streamOf(chunks: Pieces, onThrown: OnThrown, breakOff: () => boolean): ReadableStream<Uint8Array> {
  let isLeft = false;
  let reading: Promise<void> | undefined;
  async function read(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      const { done, value } = await chunks.next();
      // After a cancel the stream takes nothing more, not even its end.
      if (isLeft) return;
      if (done) controller.close();
      else controller.enqueue(value);
    } catch (error) {
      onThrown(error);
      if (isLeft) return;
      if (breakOff()) controller.close();
      else controller.error(error);
    }
  }
  return new ReadableStream(
    {
      pull(controller) {
        reading = read(controller);
        return reading;
      },
      async cancel() {
        isLeft = true;
        // Not under a read that is still under way: by then the descriptor could belong to another file.
        await reading;
        await chunks.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
