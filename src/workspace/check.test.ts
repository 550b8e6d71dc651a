import assert from "node:assert/strict";
import { readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderWith } from "../../test/world/folder.ts";
import { systemIds } from "../base/ids.ts";
import { ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import { checkDisk } from "./check.ts";
import { layoutOf } from "./layout.ts";

test("whether files can be written is tried where uploads begin; what stands in the way is told, and nothing is left [Q2][P4]", async (t) => {
  const layout = layoutOf(folderWith(t, {}));
  const check = () => checkDisk({ layout, ids: systemIds });
  assert.deepEqual([await check(), readdirSync(layout.stagingFolder)], [ok(undefined), []]);
  assert.equal(statSync(layout.stagingFolder).mode & 0o777, 0o700);
  rmSync(layout.stagingFolder, { recursive: true });
  writeFileSync(layout.stagingFolder, "in the way");
  assert.deepEqual(await check(), failure("write_failed", { path: ".", why: "io" }));
  // Somebody else's file of that name is not ours to write to, and not ours to take away.
  rmSync(layout.stagingFolder);
  await check();
  const hex = (length: number) => "a".repeat(length);
  const mine = join(layout.stagingFolder, hex(24));
  writeFileSync(mine, hex(32));
  assert.equal((await checkDisk({ layout, ids: { ...systemIds, hex } })).ok, false);
  assert.deepEqual(readdirSync(layout.stagingFolder), [hex(24)]);
});
