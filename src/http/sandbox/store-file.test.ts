import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { startYard, type TestYard } from "../../../test/world/yard.ts";
import { localOwner } from "../../protocol/ids.ts";
import type { UploadPolicy } from "../../protocol/upload-policy.ts";
import type { Sought } from "./seek-file.ts";
import { storedFile, storeFile } from "./store-file.ts";

const settings = { fileBytesMax: "b", filesMax: "max_file_count", types: "t" };
const policy: UploadPolicy = { fileBytesMax: 10, filesMax: 3, types: ["text"], settings };

type Given = {
  readonly folder?: string;
  readonly there: readonly string[];
  readonly keep?: boolean;
};

/** A folder of a new conversation that was sought, and where that lies. */
async function soughtIn(yard: TestYard, path: string) {
  const row = await yard.start(`c${(await yard.log.list(localOwner, { limit: 100 })).length}`);
  const workspace = yard.workspaces.ofConversation(row);
  const sought: Sought = { owner: localOwner, sessionId: "sess-ann", policy, row, workspace, path };
  return { sought, folder: join(yard.data, "workspace", row.id) };
}

/** Puts `a.txt` into a folder; what is told, and what it is called there. */
async function put(yard: TestYard, { folder: path = "uploads/temparea", there, keep = false }: Given) {
  const { sought, folder } = await soughtIn(yard, path);
  for (const one of there) {
    mkdirSync(join(folder, dirname(one)), { recursive: true });
    writeFileSync(join(folder, one), "");
  }
  const parts = { ...yard, sandboxSettings: () => yard.config.sandbox };
  const chunks = (async function* () {
    yield Buffer.from("a");
  })();
  const answer = await storeFile(parts, sought, { name: "a.txt", chunks, keep });
  return answer.ok ? [answer.value.path, existsSync(join(folder, answer.value.path))] : answer.failure.params;
}

test("a temparea has so many files and no more, in all of its folders together; what replaces one is no further one [F4]", async () => {
  await using yard = await startYard();
  const area = "uploads/temparea";
  const full = { path: `${area}/a.txt`, what: "files", limit: 3, setting: "max_file_count" };
  const stored = [`${area}/a.txt`, true];
  assert.deepEqual(await put(yard, { there: [`${area}/1`, `${area}/d/2`] }), stored, "its folder is no file");
  assert.deepEqual(await put(yard, { there: [`${area}/1`, `${area}/d/2`, `${area}/3`] }), full);
  const deep = [1, 2, 3].map((name) => `${area}/${"d/".repeat(64)}${name}`);
  assert.deepEqual(await put(yard, { there: deep.slice(1) }), stored);
  assert.deepEqual(await put(yard, { there: deep }), full, "each counts where no path leads any more");
  const three = [`${area}/1`, `${area}/2`, `${area}/a.txt`];
  assert.deepEqual(await put(yard, { there: three }), stored);
  assert.deepEqual(await put(yard, { there: three, keep: true }), full, "kept beside it, it is one more");
  assert.deepEqual(await put(yard, { there: three.slice(1), keep: true }), [`${area}/a (2).txt`, true]);
  const deeper = `${area}/d`;
  assert.deepEqual(await put(yard, { there: [`${area}/1`, `${area}/2`, `${area}/3`], folder: deeper }), {
    ...{ ...full, path: `${deeper}/a.txt` },
  });
});

test("elsewhere nobody counts the files, also in a folder whose name only begins like the temparea [F4]", async () => {
  await using yard = await startYard();
  for (const folder of ["outputs", "uploads", "uploads/temparea2", "temp/uploads/temparea"]) {
    const there = ["uploads/temparea", folder].flatMap((each) => [1, 2, 3, 4].map((name) => `${each}/${name}`));
    assert.deepEqual(await put(yard, { folder, there }), [`${folder}/a.txt`, true]);
  }
});

test("a file that is stored is told by both of its places [S3][S4]", async () => {
  await using yard = await startYard();
  const { sought } = await soughtIn(yard, "outputs");
  const told = (path: string) => storedFile(sought, { name: "a.txt", path, bytes: 3, type: "text", replaced: false });
  assert.deepEqual(told("outputs/a.txt"), {
    ...{ mode: "file", session_id: "sess-ann", conversation_id: "c0", file_name: "a.txt", size: 3, type: "text" },
    ...{ file_path: "c0/outputs/a.txt", container_path: "/workspace/c0/outputs/a.txt" },
  });
});
