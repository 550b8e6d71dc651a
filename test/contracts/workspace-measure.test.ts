import assert from "node:assert/strict";
import { closeSync, ftruncateSync, linkSync, mkdirSync, openSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { testWorkspace } from "../world/workspace.ts";
import { unwrap } from "./storage-place.ts";

test("what a workspace takes up is counted by blocks, against bytes, files and the room on the disk [X4]", async (t) => {
  const limits = { bytesMax: 200_000, filesMax: 6 };
  const { workspace, folder, again, base } = await testWorkspace(t, { limits });
  const overNow = async () => unwrap(await workspace.measure()).over;
  const before = unwrap(await workspace.measure());
  const sparse = openSync(join(folder, "outputs", "sparse"), "w");
  ftruncateSync(sparse, 2 ** 40);
  closeSync(sparse);
  writeFileSync(join(folder, "outputs", "real"), Buffer.alloc(65_536, 1));
  linkSync(join(folder, "outputs", "real"), join(folder, "outputs", "same"));
  const { freeBytes: _, ...measured } = unwrap(await again().measure());
  assert.deepEqual(measured, {
    ...{ bytes: before.bytes + 65_536, files: 3, folders: before.folders, bytesMax: 200_000, filesMax: 6 },
    ...{ over: undefined, isFarOver: false },
  });
  for (const name of ["1", "2", "3"]) symlinkSync("nowhere", join(folder, "temp", name));
  assert.equal(await overNow(), undefined);
  symlinkSync("nowhere", join(folder, "temp", "4"));
  assert.equal(await overNow(), "files");
  rmSync(join(folder, "temp", "4"));
  for (const name of ["a", "b", "c"]) mkdirSync(join(folder, "temp", name));
  assert.equal(await overNow(), "files", "folders fill a disk too");
  for (const name of ["a", "b", "c"]) rmSync(join(folder, "temp", name), { recursive: true });
  writeFileSync(join(folder, "outputs", "real"), Buffer.alloc(200_001, 1));
  assert.equal(await overNow(), "bytes");
  // Programs that have files open without a name take up room as well: twice the limit at least, and 2 GiB.
  const far = limits.bytesMax + 2 * 1024 ** 3 - unwrap(await workspace.measure()).bytes;
  const withMore = async (moreBytes: number) => unwrap(await workspace.measure({ moreBytes }));
  const [atFar, beyond] = [await withMore(far), await withMore(far + 1)];
  assert.deepEqual([atFar.over, atFar.isFarOver, beyond.isFarOver], ["bytes", false, true]);
  assert.equal(beyond.bytes, limits.bytesMax + 2 * 1024 ** 3 + 1);
  const small = await testWorkspace(t, { base, limits: { freeBytesMin: 2 ** 60 } });
  assert.equal(unwrap(await small.workspace.measure()).over, "disk");
  const bare = await testWorkspace(t, { kind: "task" });
  const nothing = unwrap(await bare.workspace.measure());
  assert.deepEqual([nothing.bytes, nothing.files, nothing.over], [0, 0, undefined]);
});
