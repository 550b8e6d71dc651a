import assert from "node:assert/strict";
import { test } from "node:test";
import { partly } from "../../../test/world/partly.ts";
import { ok } from "../../base/result.ts";
import { failure } from "../../protocol/failure.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import type { WalkEntry } from "../../workspace/workspace.ts";
import { tagOf } from "../download.ts";
import { listBelow } from "./list-files.ts";
import type { Sought } from "./seek-file.ts";

const file = (path: string, type: WalkEntry["type"] = "file"): WalkEntry => ({
  ...{ path, type, bytes: 3, mode: 0o644, modifiedAt: 1_700_000_000_000 },
});

/** The place that was sought in a workspace with these files, as they lie on the disk. */
function sought(path: string, paths: readonly string[]): Sought {
  return partly<Sought>({
    ...{ path, row: { id: "c1" } as ConversationRow },
    workspace: {
      async walk(below, how) {
        assert.deepEqual([below, how], [path, { hidden: true }]);
        return ok(
          (async function* () {
            yield file(`${path}/folder`, "folder");
            for (const one of paths) yield file(one);
          })(),
        );
      },
    },
  });
}

async function listed(path: string, paths: readonly string[], limit = 10) {
  const answer = await listBelow(sought(path, paths), { limit, mayBeMissing: false });
  assert.ok(answer.ok);
  return [answer.value.items.map(({ name }) => name).join(" "), answer.value.hasMore];
}

test("files are listed by their path from where was looked, the first of all that there are, and whether there are more [S3]", async () => {
  const below = ["outputs/c", "outputs/a/b", "outputs/b", "outputs/a-b"];
  assert.deepEqual(await listed("outputs", below), ["a-b a/b b c", false]);
  assert.deepEqual(await listed("outputs", below, 4), ["a-b a/b b c", false]);
  assert.deepEqual(await listed("outputs", below, 3), ["a-b a/b b", true]);
  assert.deepEqual(await listed("outputs/c", ["outputs/c"]), ["c", false]);
  assert.deepEqual(await listed(".", [".metadata.json", "uploads/.metadata.json", "a"]), [
    "a uploads/.metadata.json",
    false,
  ]);
  const many = Array.from({ length: 1_000 }, (_, n) => `outputs/${String((n * 7) % 1_000).padStart(3, "0")}`);
  assert.deepEqual(await listed("outputs", many, 2), ["000 001", true], "in whatever order they lie there");
});

test("a file is told with its size, its time, its tag and its type, and where programs find it [S3]", async () => {
  const answer = await listBelow(sought("outputs", ["outputs/a/b.csv"]), { limit: 1, mayBeMissing: false });
  assert.deepEqual(answer.ok && answer.value.items, [
    {
      ...{ name: "a/b.csv", path: "c1/outputs/a/b.csv", container_path: "/workspace/c1/outputs/a/b.csv", size: 3 },
      ...{ modified_time: "2023-11-14T22:13:20.000Z", etag: tagOf(file("x")), type: "csv" },
    },
  ]);
});

test("a folder that nobody made yet is empty where it may be missing, and what cannot be read is never told as empty [S3][Q2]", async () => {
  const missing = failure("file_not_found", { path: "outputs", near: "" });
  const broken = failure("read_failed", { path: "outputs", why: "io" });
  const told = async (reason: typeof missing | typeof broken, mayBeMissing: boolean) =>
    listBelow(partly<Sought>({ path: "outputs", workspace: { walk: async () => reason } }), { limit: 1, mayBeMissing });
  assert.deepEqual(await told(missing, true), ok({ items: [], hasMore: false }));
  assert.deepEqual(await told(missing, false), missing);
  assert.deepEqual(await told(broken, true), broken);
});
