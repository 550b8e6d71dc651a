import assert from "node:assert/strict";
import { closeSync, fstatSync, mkdtempSync, openSync, rmSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { unnamedBytes } from "./held-files.ts";

test("a file that lost its name takes up room for as long as somebody has it open, once, and on its own disk only [X4]", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-held-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const { dev } = statSync(folder);
  const held = (device = dev) => unnamedBytes([process.pid], device);
  const before = await held();
  const paths = ["named", "lost"].map((name) => join(folder, name));
  for (const path of paths) writeFileSync(path, Buffer.alloc(65_536, "x"));
  const open = [...paths, ...paths].map((path) => openSync(path, "r"));
  assert.equal(await held(), before);
  unlinkSync(join(folder, "lost"));
  const blockBytes = 512;
  assert.equal((await held()) - before, fstatSync(open[1] ?? 0).blocks * blockBytes);
  assert.equal(await held(-1), 0);
  for (const fd of open) closeSync(fd);
  assert.equal(await held(), before);
  assert.equal(await unnamedBytes([2 ** 22 + 1], dev), 0);
});
