import { ok } from "../../src/base/result.ts";
import type { createApp } from "../../src/http/http.ts";
import { failure } from "../../src/protocol/failure.ts";
import type { Chunks, FileStat } from "../../src/workspace/workspace.ts";

// The files of all conversations in one heap, for tests of the door: it is the engine that keeps them apart.

type Engine = Parameters<typeof createApp>[0]["engine"];

export type MemoryFiles = {
  /** By path. */
  readonly held: Map<string, Uint8Array>;
  readonly engine: Pick<Engine, "files" | "upload" | "removeFile">;
};

const pieceBytes = 64 * 1024;

export function memoryFiles(): MemoryFiles {
  const held = new Map<string, Uint8Array>();
  const statOf = (path: string, { length }: Uint8Array): FileStat => ({
    ...{ path, type: "file", bytes: length, mode: 0o644 },
    modifiedAt: 1_700_000_000_000,
  });
  const missing = (path: string) => failure("file_not_found", { path, near: "" });
  return {
    held,
    engine: {
      files: () => ({
        async list(path = ".") {
          const entries = [...held].map(([name, { length }]) => ({ name, bytes: length }));
          const rest = { type: "file", modifiedAt: 1_700_000_000_000 } as const;
          return ok({ path, entries: entries.map((entry) => ({ ...entry, ...rest })), isUnwritten: held.size === 0 });
        },
        async stat(path) {
          const bytes = held.get(path);
          return bytes === undefined ? missing(path) : ok(statOf(path, bytes));
        },
        async stream(path, { offset = 0, length } = {}) {
          const bytes = held.get(path);
          if (bytes === undefined) return missing(path);
          const part = bytes.subarray(offset, offset + (length ?? bytes.length));
          return ok({ stat: statOf(path, bytes), chunks: chunksOf(pieces(part)) });
        },
      }),
      async upload(_, { name, chunks }) {
        const pieces: Uint8Array[] = [];
        for await (const chunk of chunks) pieces.push(chunk);
        const data = Buffer.concat(pieces);
        const path = `uploads/${name}`;
        const replaced = held.has(path);
        held.set(path, data);
        return ok({ name, path, type: "text", bytes: data.length, replaced });
      },
      removeFile: async (_, path) => (held.delete(path) ? ok(undefined) : missing(path)),
    },
  };
}

/** A file's content as the workspace hands it out. */
export function chunksOf(content: AsyncIterable<Buffer>): Chunks {
  const iterator = content[Symbol.asyncIterator]();
  const end: IteratorReturnResult<undefined> = { done: true, value: undefined };
  const chunks: Chunks = {
    [Symbol.asyncIterator]: () => chunks,
    async next() {
      const { done, value } = await iterator.next();
      return done ? end : { done: false, value };
    },
    async return() {
      await iterator.return?.();
      return end;
    },
  };
  return chunks;
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Buffer, void, undefined> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield Buffer.from(bytes.subarray(at, at + pieceBytes));
}
