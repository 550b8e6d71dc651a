import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { type Client, createClient, inProcessFetch } from "../../src/client/client.ts";
import { socketFetch } from "../../src/client/socket-fetch.ts";
import { type App, listen } from "../../src/http/http.ts";

// The ways to one server, and files that are made while they are sent.

export type Door = { readonly name: "process" | "port" | "socket"; readonly client: Client };

/** A client for each way in: within the process, over a port, over the local socket. */
export async function allDoors(app: App): Promise<Door[] & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), "yard-"));
  const socketPath = join(folder, "s.sock");
  const port = await listen(app, { host: "127.0.0.1", port: 0 }, { clock: systemClock });
  const socket = await listen(app, { socketPath }, { clock: systemClock });
  assert.ok(port.ok && socket.ok);
  const doors: Door[] = [
    { name: "process", client: createClient({ fetch: inProcessFetch(app) }) },
    { name: "port", client: createClient({ fetch, baseUrl: port.value.address }) },
    { name: "socket", client: createClient({ fetch: socketFetch(socketPath, systemClock) }) },
  ];
  return Object.assign(doors, {
    async [Symbol.asyncDispose]() {
      await Promise.all([port.value.close(), socket.value.close()]);
      await rm(folder, { recursive: true, force: true });
    },
  });
}

export type Source = AsyncIterable<Buffer> & {
  /** Bytes that were taken off it. */
  readonly taken: () => number;
  /** It was read to its end, or its reader let go of it. */
  readonly isEnded: () => boolean;
};

const pieceBytes = 64 * 1024;

/** A file that is made while it is read. */
export function sourceOf(totalBytes: number, fill = "0123456789abcdef"): Source {
  let taken = 0;
  let isEnded = false;
  const piece = Buffer.alloc(pieceBytes, fill);
  const pieces: AsyncIterator<Buffer, undefined> = {
    async next() {
      const next = piece.subarray(0, Math.min(pieceBytes, totalBytes - taken));
      isEnded ||= next.length === 0;
      if (isEnded) return { done: true, value: undefined };
      taken += next.length;
      return { done: false, value: next };
    },
    async return() {
      isEnded = true;
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => pieces, taken: () => taken, isEnded: () => isEnded };
}

/** All of it in one piece. */
export async function gather(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const chunk of chunks) pieces.push(chunk);
  return Buffer.concat(pieces);
}
