import assert from "node:assert/strict";
import { closeSync, mkdirSync, mkdtempSync, openSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemIds } from "../base/ids.ts";
import { localOwner } from "../protocol/ids.ts";
import { isOver, openPackageFolders } from "./package-folders.ts";

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

test("packages that lie too deep to be measured count as too many, not as none [X5]", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "agentyard-packages-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  // Folder by folder: the last name is longer than a path may be, so that it can be listed and not be looked at.
  let folder = dir;
  for (; folder.length < 3900; mkdirSync(folder)) folder = join(folder, "d".repeat(100));
  const here = openSync(folder, "r");
  writeFileSync(`/proc/self/fd/${here}/${"f".repeat(250)}`, "x");
  closeSync(here);
  const roomy = { bytesMax: 1024 ** 3, filesMax: 1000, freeBytesMin: 0 };
  assert.equal(await isOver(dir, roomy), true);
});
