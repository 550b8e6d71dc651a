import assert from "node:assert/strict";
import { statfsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderWith } from "../../test/world/folder.ts";
import { testLimits } from "../../test/world/workspace.ts";
import { failed, ok } from "../base/result.ts";
import { failure, makeFailure } from "../protocol/failure.ts";
import type { HostPlace } from "./files.ts";
import { asQuota, findHere } from "./here.ts";

const make = async () => ok(undefined);
const plain: HostPlace = { folder: "/data/w", keptFolder: "/data/kept/w", uid: undefined, make, used() {} };
const image = { files: "/mnt/files", staging: "/mnt/staging", disk: "/data", isMade: true };

test("files are looked for in the image where there is one, else in the folder, and a disk that fails is told by what was wanted [W7][X4]", async () => {
  assert.deepEqual(await findHere(plain, "read"), ok(plain));
  const empty = { ...plain, findImage: async () => ok(undefined) };
  assert.deepEqual(await findHere(empty, "write"), ok(empty));
  const found = { ...plain, findImage: async () => ok(image) };
  assert.deepEqual(await findHere(found, "read"), ok({ ...found, folder: "/mnt/files", image }));
  const failing = { ...plain, findImage: async () => failed("io" as const) };
  for (const [operation, code] of [
    ["read", "read_failed"],
    ["write", "write_failed"],
  ] as const)
    assert.deepEqual(await findHere(failing, operation), failure(code, { path: ".", why: "io" }));
});

test("what programs wrote to a folder that waits is in its place before anybody looks; where that fails nobody does [W2]", async () => {
  const gone = failure("workspace_not_assigned", { agent: "task" });
  const order: string[] = [];
  const findImage = async () => {
    order.push("looked");
    return ok(undefined);
  };
  const hold = async () => ok("");
  const waiting = (answer: typeof gone | ReturnType<typeof ok<void>>) => ({
    ...{ hold, release() {} },
    async arrive(given: typeof make) {
      assert.equal(given, make);
      order.push("arrived");
      return answer;
    },
  });
  const place = { ...plain, findImage };
  assert.equal((await findHere({ ...place, waiting: waiting(ok(undefined)) }, "read")).ok, true);
  assert.deepEqual(await findHere({ ...place, waiting: waiting(gone) }, "read"), gone);
  assert.deepEqual(order, ["arrived", "looked", "arrived"]);
});

test("an image that is full is a workspace at its limit; a disk that is full, or fails otherwise, stays that [W11][X4]", (t) => {
  const folder = folderWith(t, {});
  const { blocks, bsize } = statfsSync(folder);
  const full = makeFailure("write_failed", { path: "a", why: "full" });
  const here = { ...plain, folder, image: { ...image, disk: folder } };
  const told = (bytesMax: number, at = here, reason: Parameters<typeof asQuota>[0] = full) =>
    asQuota(reason, at, { ...testLimits, bytesMax });
  const quota = (limit: number) =>
    makeFailure("quota_exceeded", { path: "a", what: "bytes", limit, setting: "workspace.bytes_max" });
  assert.deepEqual(told(1000), quota(1000));
  assert.deepEqual(told(Number.MAX_SAFE_INTEGER), quota(blocks * bsize), "no more than there is of it");
  assert.equal(asQuota(full, { ...plain, folder }, testLimits), full, "it lies in a folder");
  const missing = { ...here, image: { ...image, disk: join(folder, "gone") } };
  assert.equal(told(1000, missing), full);
  assert.equal(told(1000, { ...here, folder: join(folder, "gone") }), full);
  for (const other of [
    makeFailure("write_failed", { path: "a", why: "io" }),
    makeFailure("read_failed", { path: "a", why: "full" }),
    makeFailure("file_not_found", { path: "a", near: "" }),
  ])
    assert.equal(told(1000, here, other), other);
  // Nothing is free in this file system, ever.
  assert.equal(told(1000, { ...here, image: { ...image, disk: "/proc" } }), full);
});
