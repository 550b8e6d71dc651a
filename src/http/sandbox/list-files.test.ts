import assert from "node:assert/strict";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { openDatabase } from "../../../test/world/database.ts";
import { withoutPermission } from "../../../test/world/folder.ts";
import { testWorkspace } from "../../../test/world/workspace.ts";
import { ok } from "../../base/result.ts";
import { failure } from "../../protocol/failure.ts";
import { ConversationId, localOwner } from "../../protocol/ids.ts";
import { defaultUploadPolicy } from "../../protocol/upload-policy.ts";
import { tagOf } from "../download.ts";
import { listBelow } from "./list-files.ts";
import type { Sought } from "./seek-file.ts";

/** The place that was sought in a workspace with these files. */
async function sought(t: TestContext, path: string, paths: readonly string[]) {
  const { workspace, folder } = await testWorkspace(t);
  for (const one of paths) {
    mkdirSync(join(folder, dirname(one)), { recursive: true });
    writeFileSync(join(folder, one), "abc");
  }
  const id = ConversationId.parse("c1");
  const row = await openDatabase(t).createConversation({ owner: localOwner, id, at: 0, events: [] });
  assert.ok(row.ok);
  const place = { owner: localOwner, sessionId: "s", policy: defaultUploadPolicy, row: row.value, workspace, path };
  return { place: place satisfies Sought, folder };
}

async function listed(t: TestContext, path: string, paths: readonly string[], limit = 10) {
  const { place } = await sought(t, path, paths);
  const answer = await listBelow(place, { limit, mayBeMissing: false });
  assert.ok(answer.ok);
  return [answer.value.items.map(({ name }) => name).join(" "), answer.value.hasMore];
}

test("files are listed by their path from where was looked, the first of all that there are, and whether there are more [S3]", async (t) => {
  const below = ["outputs/c", "outputs/a/b", "outputs/b", "outputs/a-b", "outputs2/d"];
  assert.deepEqual(await listed(t, "outputs", below), ["a-b a/b b c", false]);
  assert.deepEqual(await listed(t, "outputs", below, 4), ["a-b a/b b c", false]);
  assert.deepEqual(await listed(t, "outputs", below, 3), ["a-b a/b b", true]);
  assert.deepEqual(await listed(t, "outputs/c", ["outputs/c"]), ["c", false]);
  assert.deepEqual(await listed(t, ".", [".metadata.json", "uploads/.metadata.json", "a"]), [
    "a uploads/.metadata.json",
    false,
  ]);
  const many = Array.from({ length: 1_000 }, (_, n) => `outputs/${String((n * 7) % 1_000).padStart(3, "0")}`);
  assert.deepEqual(await listed(t, "outputs", many, 2), ["000 001", true], "in whatever order they lie there");
});

test("a file is told with its size, its time, its tag and its type, and where programs find it [S3]", async (t) => {
  const { place, folder } = await sought(t, "outputs", ["outputs/a/b.csv"]);
  utimesSync(join(folder, "outputs/a/b.csv"), 1_700_000_000, 1_700_000_000);
  const stat = await place.workspace.stat("outputs/a/b.csv");
  assert.ok(stat.ok);
  const answer = await listBelow(place, { limit: 1, mayBeMissing: false });
  assert.deepEqual(answer.ok && answer.value.items, [
    {
      ...{ name: "a/b.csv", path: "c1/outputs/a/b.csv", container_path: "/workspace/c1/outputs/a/b.csv", size: 3 },
      ...{ modified_time: "2023-11-14T22:13:20.000Z", etag: tagOf(stat.value), type: "csv" },
    },
  ]);
});

test("a folder that nobody made yet is empty where it may be missing, and what cannot be read is never told as empty [S3][Q2]", async (t) => {
  const { place, folder } = await sought(t, "outputs/none", ["outputs/locked/a"]);
  const missing = failure("file_not_found", { path: "outputs/none", near: "" });
  assert.deepEqual(await listBelow(place, { limit: 1, mayBeMissing: true }), ok({ items: [], hasMore: false }));
  assert.deepEqual(await listBelow(place, { limit: 1, mayBeMissing: false }), missing);
  const locked = { ...place, path: "outputs/locked" };
  const broken = await withoutPermission([join(folder, "outputs/locked")], () =>
    listBelow(locked, { limit: 1, mayBeMissing: true }),
  );
  assert.equal(broken.ok || broken.failure.code, "permission_denied");
});
