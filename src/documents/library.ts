import { webcrypto } from "node:crypto";
import { inBackground } from "../base/background.ts";
import { ok, type Result } from "../base/result.ts";
import type { Extracted, ExtractFailure, Extractor } from "../extract/extract.ts";
import type { Receipt } from "../extract/extracted.ts";
import type { Logger } from "../observe/observe.ts";
import { failure } from "../protocol/failure.ts";
import type { Pointer, Search, SearchFailure } from "../search/search.ts";
import type { FileFailure, FileStat, Workspace } from "../workspace/workspace.ts";
import { openWorkQueue } from "./work-queue.ts";

/** How far a file is on its way into the index. */
export type Indexing = {
  readonly state: "waiting" | "reading" | "indexed" | "failed";
  /** Pages, sheets, slides or chapters that were read; `of` is 0 while it is not known. */
  readonly done: number;
  readonly of: number;
  readonly failure: ExtractFailure | SearchFailure | FileFailure | undefined;
  /** What became of it. */
  readonly receipt?: Receipt | undefined;
};

/** Brings files into the index, a few at a time, and remembers what became of each. */
export type Library = {
  /** What is known of a file as it is now; one that is new or has changed is taken up, in front where somebody waits. */
  want(workspace: Workspace, file: FileStat, options: { readonly isAwaited: boolean }): Wanted;
  /** A file, or a folder with all in it, is no longer there. */
  forget(workspace: Workspace, path: string): Promise<void>;
  /** What is remembered may no longer be so: everything is looked at again when it is next wanted. */
  doubt(): void;
  close(): Promise<void>;
};

/** `ended` never fails: how it went stands in `now()`. */
export type Wanted = {
  readonly now: () => Indexing;
  readonly ended: Promise<void>;
  /** Whether a hit of the index was found in this content. */
  readonly holds: (hit: string) => boolean;
};

export const fileKind = "file";

/** Where a file of a workspace stands in the index. */
export function pointerOf({ owner, name }: Workspace, path: string): Pointer {
  return { owner, kind: fileKind, place: `${name}/${path}` };
}

/** What does not fit into memory at ease is not read at all. */
const fileBytesMax = 100 * 1024 * 1024;
const atOnceMax = 2;
/** Files that are remembered; of others the index itself knows, once they were hashed again. */
const rememberedMax = 10_000;

type Entry = { -readonly [Field in keyof Indexing]: Indexing[Field] } & {
  readonly stamp: string;
  readonly ended: Promise<void>;
  /** Of the content in the index. */
  key?: string;
};
type Parts = { readonly search: Search; readonly extractor: Extractor; readonly logger: Logger };

export function openLibrary({ search, extractor, logger }: Parts): Library {
  const entries = new Map<string, Entry>();
  const closing = new AbortController();
  const queue = openWorkQueue(atOnceMax);
  const index = openIndexing({ search, extractor, signal: closing.signal });

  const take = (workspace: Workspace, file: FileStat, stamp: string, isAwaited: boolean): Entry => {
    const { place } = pointerOf(workspace, file.path);
    const before = entries.get(place);
    if (before !== undefined) queue.remove(before);
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const entry: Entry = { state: "waiting", done: 0, of: 0, failure: undefined, stamp, ended };
    const leave = () => {
      if (entry.state !== "indexed") entry.state = "failed";
      // Whether the index can be used is asked again the next time.
      if (entry.failure?.code === "index_unavailable" && entries.get(place) === entry) entries.delete(place);
      end();
    };
    const work = async () => {
      // Two that write for one place could end in the wrong order.
      await before?.ended;
      if (entries.get(place) === entry)
        await inBackground(logger, "a document could not be indexed", index(workspace, file, entry));
      leave();
    };
    entries.delete(place);
    entries.set(place, entry);
    forgetOldest(entries);
    queue.add(entry, { work, leave }, { isFirst: isAwaited });
    return entry;
  };

  return {
    want(workspace, file, { isAwaited }) {
      const stamp = `${file.bytes} ${file.modifiedAt}`;
      const known = entries.get(pointerOf(workspace, file.path).place);
      const entry = known?.stamp === stamp ? known : take(workspace, file, stamp, isAwaited);
      if (isAwaited) queue.hasten(entry);
      return {
        ended: entry.ended,
        now() {
          const { state, done, of, failure: why, receipt } = entry;
          return { state, done, of, failure: why, receipt };
        },
        holds: (hit) => entry.state === "indexed" && entry.key !== undefined && search.isOfKey(hit, entry.key),
      };
    },
    async forget(workspace, path) {
      // Nobody opens the index only to find that nothing was ever put into it; what is not there is never shown.
      if (!search.isMade()) return;
      const pointer = pointerOf(workspace, path === "." ? "" : path);
      const below = path === "." ? pointer.place : `${pointer.place}/`;
      const gone = [...entries].filter(([place]) => place === pointer.place || place.startsWith(below));
      for (const [place] of gone) entries.delete(place);
      await Promise.all(gone.map(([, { ended, state }]) => (state === "reading" ? ended : undefined)));
      await search.drop(pointer);
      await search.dropBelow({ ...pointer, place: below });
    },
    doubt() {
      for (const [place, { state }] of entries) if (state === "indexed" || state === "failed") entries.delete(place);
    },
    async close() {
      closing.abort();
      await queue.close();
    },
  };
}

function forgetOldest(entries: Map<string, Entry>): void {
  for (const [place, { state }] of entries) {
    if (entries.size <= rememberedMax) return;
    if (state === "indexed" || state === "failed") entries.delete(place);
  }
}

type IndexingParts = Pick<Parts, "search" | "extractor"> & { readonly signal: AbortSignal };

/** Reads one file and puts it into the index, unless its content is there already. */
function openIndexing({ search, extractor, signal }: IndexingParts) {
  return async (workspace: Workspace, { path }: FileStat, entry: Entry): Promise<void> => {
    entry.state = "reading";
    const pointer = pointerOf(workspace, path);
    const indexed = await index(workspace, path, { pointer, entry });
    entry.state = indexed.ok ? "indexed" : "failed";
    entry.failure = indexed.ok ? undefined : indexed.failure;
    // What cannot be read now was perhaps something else before.
    if (!indexed.ok && indexed.failure.code !== "index_unavailable" && !signal.aborted) await search.drop(pointer);
  };

  async function index(
    workspace: Workspace,
    path: string,
    { pointer, entry }: { readonly pointer: Pointer; readonly entry: Entry },
  ): Promise<Result<void, ExtractFailure | SearchFailure | FileFailure>> {
    // What is hashed and what is read are the same bytes: a file that is changed in between cannot give a document of
    // others, which is found by its hash, another text.
    const read = await readWhole(workspace, path);
    if (!read.ok) return read;
    const bytes = read.value;
    const key = `${Buffer.from(await webcrypto.subtle.digest("SHA-256", bytes)).toString("hex")}.${extractor.version}`;
    entry.key = key;
    const pointed = await search.point(pointer, key);
    if (!pointed.ok) return pointed;
    if (pointed.value) {
      entry.receipt = await receiptOf(key);
      return ok(undefined);
    }
    const extracted = await extract({ name: path, bytes, sizeBytes: bytes.length }, entry);
    if (!extracted.ok) return extracted;
    entry.receipt = extracted.value.receipt;
    const put = await search.put(pointer, key, extracted.value, { signal, note: JSON.stringify(entry.receipt) });
    return put.ok ? ok(undefined) : put;
  }

  /** As it was written down when the content came into the index. */
  async function receiptOf(key: string): Promise<Receipt | undefined> {
    const note = await search.noteOf(key);
    return note.ok && note.value !== undefined ? JSON.parse(note.value) : undefined;
  }

  function extract(
    source: Parameters<Extractor["extract"]>[0],
    entry: Entry,
  ): Promise<Result<Extracted, ExtractFailure>> {
    const onProgress = ({ done, total }: { done: number; total: number }) => {
      entry.done = done;
      entry.of = total;
    };
    return extractor.extract(source, { signal, onProgress });
  }
}

async function readWhole(
  workspace: Workspace,
  path: string,
): Promise<Result<Uint8Array<ArrayBuffer>, ExtractFailure | FileFailure>> {
  const read = await workspace.read(path, { bytesMax: fileBytesMax });
  if (!read.ok) return read;
  const { stat, bytes } = read.value;
  if (stat.bytes > fileBytesMax)
    return failure("document_too_large", { name: path, sizeBytes: stat.bytes, limitBytes: fileBytesMax });
  return ok(new Uint8Array(bytes));
}
