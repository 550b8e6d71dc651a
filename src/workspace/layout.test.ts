import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { conversationFolder, keptFolder, layoutOf, taskFolder, trashFolder } from "./layout.ts";

const { hostPath } = layoutOf("/data");

test("the folders that we name ourselves lie below the data directory [W1][W2][W10]", () => {
  const folders = [
    conversationFolder("a.b-c_1"),
    conversationFolder("x".repeat(64)),
    taskFolder("agent-1"),
    keptFolder(conversationFolder("a")),
    keptFolder(taskFolder("a")),
    trashFolder("0123abcd"),
  ];
  assert.deepEqual(
    folders.map(hostPath),
    folders.map((folder) => join("/data", folder)),
  );
});

test("no other name leads to a folder, however it is written [W5]", () => {
  const names = ["", ".", "..", "a..b", "../a", "a/b", "/a", ".a", "-a", "a b", "a\n", "a\0", "ａ", "x".repeat(65)];
  const trash = ["", "..", "0123abc", "0123abcde", "0123ABCD", "0123abcd/uploads", "xyzxyzxy"];
  const others = [
    "",
    ".",
    "workspace",
    "workspace/",
    "kept",
    "kept/trash/0123abcd",
    "sessions.db",
    "logs/a",
    "kept/kept/workspace/a",
  ];
  const folders = [
    ...names.flatMap((name) => [conversationFolder(name), taskFolder(name), keptFolder(conversationFolder(name))]),
    ...trash.map(trashFolder),
    ...others,
  ];
  assert.deepEqual(
    folders.filter((folder) => hostPath(folder) !== undefined),
    [],
  );
});

test("whatever stands in a row, its path is one of ours or none [W5]", () => {
  const pieces = fc.constantFrom(
    "workspace",
    "workspaces",
    "kept",
    "trash",
    "/",
    "..",
    ".",
    "a",
    "0123abcd",
    "\n",
    "\0",
    "\\",
  );
  const written = fc.oneof(
    fc.string(),
    fc.array(pieces, { maxLength: 8 }).map((list) => list.join("")),
  );
  const bases = ["/data/workspace", "/data/workspaces", "/data/kept/workspace", "/data/kept/workspaces", "/data/trash"];
  fc.assert(
    fc.property(written, (folder) => {
      const path = hostPath(folder);
      assert.ok(path === undefined || (bases.includes(dirname(path)) && path === `/data/${folder}`));
    }),
  );
});
