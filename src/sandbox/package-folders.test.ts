import assert from "node:assert/strict";
import { mkdtempSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemIds } from "../base/ids.ts";
import { localOwner } from "../protocol/ids.ts";
import { openPackageFolders } from "./package-folders.ts";

test("an installation that a crash cut off in its last moment does not keep the next one from its place [X5][Q2]", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "agentyard-packages-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const folders = openPackageFolders(dir, systemIds);
  const own = await folders.of(localOwner);
  const cutOff = await folders.begin(localOwner);
  symlinkSync(cutOff.name, join(own, "current.next"));
  const { name } = await folders.begin(localOwner);
  await folders.makeCurrent(localOwner, name);
  assert.equal(readlinkSync(join(own, "current")), name);
});
