import assert from "node:assert/strict";
import { test } from "node:test";
import { partly } from "../../../test/world/partly.ts";
import { ok } from "../../base/result.ts";
import { failure } from "../../protocol/failure.ts";
import type { UploadPolicy } from "../../protocol/upload-policy.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import type { WalkEntry } from "../../workspace/workspace.ts";
import { noted, partsWith } from "../routes/handling.testing.ts";
import type { Sought } from "./seek-file.ts";
import { storedFile, storeFile } from "./store-file.ts";

const settings = { fileBytesMax: "b", filesMax: "max_file_count", types: "t" };
const policy: UploadPolicy = { fileBytesMax: 10, filesMax: 3, types: ["text"], settings };

type Given = {
  readonly folder?: string;
  readonly there: readonly (string | Pick<WalkEntry, "path" | "standsFor" | "type">)[];
  readonly keep?: boolean;
};

/** Puts `a.txt` into a folder; what is told, and how many files that folder may have then. */
async function put({ folder = "uploads/temparea", there, keep = false }: Given) {
  const done: unknown[] = [];
  const entries = there.map((one) => (typeof one === "string" ? { path: one, type: "file" } : one));
  const sought = partly<Sought>({
    ...{ row: { id: "c1" } as ConversationRow, path: folder, policy },
    workspace: {
      stat: async (path) =>
        entries.some((one) => one.path === path) ? ok({}) : failure("file_not_found", { path, near: "" }),
      async walk(path, how) {
        assert.deepEqual([path, how], ["uploads/temparea", { hidden: true }]);
        return ok(
          (async function* () {
            yield* entries;
          })(),
        );
      },
    },
  });
  const stored = { name: "a.txt", path: `${folder}/a.txt`, bytes: 1, type: "text", replaced: false };
  const parts = partsWith({
    engine: {
      upload: async (_, { folder: into, policy: held, keep: kept }) =>
        noted(done, [into, held?.filesMax, kept], ok(stored)),
    },
  });
  const chunks = (async function* () {})();
  const answer = await storeFile(parts, sought, { name: "a.txt", chunks, keep });
  return [answer.ok ? "stored" : answer.failure.params, ...done];
}

test("a temparea has so many files and no more, in all of its folders together; what replaces one is no further one [F4]", async () => {
  const area = "uploads/temparea";
  const full = { path: `${area}/a.txt`, what: "files", limit: 3, setting: "max_file_count" };
  const stored = ["stored", [area, 3, false]];
  assert.deepEqual(await put({ there: [`${area}/1`, `${area}/d/2`] }), stored);
  assert.deepEqual(await put({ there: [`${area}/1`, `${area}/d/2`, { path: `${area}/d`, type: "folder" }] }), stored);
  assert.deepEqual(await put({ there: [`${area}/1`, `${area}/d/2`, `${area}/3`] }), [full]);
  assert.deepEqual(await put({ there: [{ path: `${area}/d/…`, type: "file", standsFor: 3 }] }), [full]);
  const three = [`${area}/1`, `${area}/2`, `${area}/a.txt`];
  assert.deepEqual(await put({ there: three }), stored);
  assert.deepEqual(await put({ there: three, keep: true }), [full], "kept beside it, it is one more");
  const deeper = `${area}/d`;
  assert.deepEqual(await put({ there: [`${area}/1`, `${area}/2`, `${area}/3`], folder: deeper }), [
    { ...full, path: `${deeper}/a.txt` },
  ]);
});

test("elsewhere nobody counts the files, also in a folder whose name only begins like the temparea [F4]", async () => {
  const there = Array.from({ length: 9 }, (_, n) => `uploads/temparea/${n}`);
  for (const folder of ["outputs", "uploads", "uploads/temparea2", "temp/uploads/temparea"])
    assert.deepEqual(await put({ folder, there }), ["stored", [folder, Number.MAX_SAFE_INTEGER, false]]);
});

test("a file that is stored is told by both of its places [S3][S4]", () => {
  const sought = partly<Sought>({ sessionId: "sess-ann", row: { id: "c1" } as ConversationRow });
  const told = (path: string) => storedFile(sought, { name: "a.txt", path, bytes: 3, type: "text", replaced: false });
  assert.deepEqual(told("outputs/a.txt"), {
    ...{ mode: "file", session_id: "sess-ann", conversation_id: "c1", file_name: "a.txt", size: 3, type: "text" },
    ...{ file_path: "c1/outputs/a.txt", container_path: "/workspace/c1/outputs/a.txt" },
  });
});
