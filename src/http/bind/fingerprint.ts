import { createHash } from "node:crypto";
import { BrokenOff } from "../../workspace/workspace.ts";
import type { IncomingBytes } from "../bytes.ts";

/** Headers by which some routes are told what to do. */
const tellingHeaders = [
  "conversation_id",
  "x-conversation-id",
  "x-business-domain",
  "upload-length",
  "upload-metadata",
];

/** What a call asks for, in few characters: a key belongs to one call. `json`: its body, if that is JSON. */
export function fingerprintOf(request: Request, json: unknown): string {
  const { pathname, search } = new URL(request.url);
  const told = tellingHeaders.map((name) => request.headers.get(name));
  const asked = [request.method, pathname, search, told, json];
  return createHash("sha256").update(JSON.stringify(asked)).digest("hex");
}

/** Bytes that are hashed as they are taken. */
export type HashedBytes = {
  readonly bytes: IncomingBytes;
  /** Undefined as long as not all of them were taken. */
  readonly hash: () => string | undefined;
};

/** The same form comes with another boundary each time: it does not count. */
export function hashed(bytes: IncomingBytes, contentType: string): HashedBytes {
  const hash = createHash("sha256");
  let digest: string | undefined;
  async function* chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    const add = withoutBoundary(contentType, (piece) => hash.update(piece));
    for await (const chunk of bytes.chunks) {
      add(chunk);
      yield chunk;
    }
    add(undefined);
    digest = hash.digest("hex");
  }
  return { bytes: { ...bytes, chunks: chunks() }, hash: () => digest };
}

/** Takes chunk after chunk and hands on what is no boundary; undefined is the end. */
function withoutBoundary(contentType: string, take: (piece: Uint8Array) => void) {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType) ?? [];
  const boundary = Buffer.from(quoted ?? plain ?? "", "latin1");
  let rest = Buffer.alloc(0);
  return (chunk: Uint8Array | undefined) => {
    if (boundary.length === 0) return chunk && take(chunk);
    // A copy in any case: what comes in may be one buffer, filled again and again.
    let piece = Buffer.concat([rest, chunk ?? new Uint8Array()]);
    for (let at = piece.indexOf(boundary); at >= 0; at = piece.indexOf(boundary)) {
      take(piece.subarray(0, at));
      piece = piece.subarray(at + boundary.length);
    }
    // A boundary may begin here and end in the next chunk.
    const sureBytes = chunk === undefined ? piece.length : Math.max(0, piece.length - boundary.length + 1);
    take(piece.subarray(0, sureBytes));
    rest = piece.subarray(sureBytes);
  };
}

/** Takes all of them, for their hash alone; undefined when they break off. */
export async function hashOf(hashing: HashedBytes): Promise<string | undefined> {
  try {
    for await (const _ of hashing.bytes.chunks);
  } catch (error) {
    if (!(error instanceof BrokenOff)) throw error;
    return undefined;
  }
  return hashing.hash();
}
