import { ok } from "../../src/base/result.ts";
import type { createApp } from "../../src/http/http.ts";
import { failure } from "../../src/protocol/failure.ts";

// Uploads as the door sees them, for tests of the door alone: what comes is held in memory, nothing is kept of it.

type Workspaces = Parameters<typeof createApp>[0]["workspaces"];

export const playedUploads: Pick<Workspaces, "spool" | "incoming"> = {
  async spool(source, { name }) {
    const pieces: Uint8Array[] = [];
    try {
      for await (const piece of source) pieces.push(piece);
    } catch {
      return failure("write_failed", { path: name, why: "broken_off" });
    }
    const all = Buffer.concat(pieces);
    const once = async function* () {
      yield all;
    };
    const read = async (offset: number, bytesMax: number) => all.subarray(offset, offset + bytesMax);
    return ok({ bytes: all.length, chunks: once, read, close: () => {} });
  },
  incoming: {
    create: async () => failure("uploads_too_many", { limit: 0 }),
    find: async () => undefined,
    append: async (id) => failure("upload_not_found", { id: id.slice(0, 80) }),
    finish: async () => ok(undefined),
    remove: async () => false,
    sweep: async () => {},
  },
};
