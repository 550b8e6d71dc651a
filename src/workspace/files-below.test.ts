import assert from "node:assert/strict";
import { closeSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderWith } from "../../test/world/folder.ts";
import { openRoot } from "./descend.ts";
import { filesBelow } from "./files-below.ts";

test("a thread finds files by folder and name, and reads of each as many bytes as it asks for [F2][D2]", (t) => {
  const files = { "b.txt": "12345", "a/d.txt": "six", "a/c.txt": "", ".hidden": "no", "a/.also": "no" };
  const folder = folderWith(t, files);
  symlinkSync("/etc/passwd", join(folder, "link"));
  const root = openRoot(folder) ?? assert.fail();
  t.after(() => closeSync(root));
  const found = (path: string, bytesMax: number) => {
    const read: unknown[] = [];
    // Each can be read until the next one is asked for.
    for (const file of filesBelow(root, path)) read.push([file.path, file.bytes, file.read(bytesMax)?.toString()]);
    return read;
  };
  assert.deepEqual(found(".", 3), [
    ["b.txt", 5, "123"],
    ["a/c.txt", 0, ""],
    ["a/d.txt", 3, "six"],
  ]);
  assert.deepEqual(found("b.txt", 99), [["b.txt", 5, "12345"]]);
  assert.deepEqual(found("a", 2), [
    ["a/c.txt", 0, ""],
    ["a/d.txt", 3, "si"],
  ]);
  for (const none of ["link/x", "../x", "nothing", "b.txt/x"]) assert.deepEqual(found(none, 9), []);
  for (const file of filesBelow(root, "b.txt")) {
    truncateSync(join(folder, "b.txt"), 2);
    assert.equal(String(file.read(99)), "12", "it has become shorter");
  }
});
