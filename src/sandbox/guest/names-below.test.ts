import assert from "node:assert/strict";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderWith } from "../../../test/world/folder.ts";
import { checkedNames, namesBelow } from "./names-below.ts";

test("a place is named by the folders that lead to it, also by another name of the root, and no place outside is [W5][X3]", (t) => {
  const folder = folderWith(t, { "root/a/b/": "", "other/": "" });
  symlinkSync("root", join(folder, "link"));
  symlinkSync("../other", join(folder, "root/out"));
  const below = (root: string, path: string) => namesBelow(join(folder, root), join(folder, path));
  assert.deepEqual(
    [below("root", "root/a/b"), below("link", "root/a/b"), below("root", "link/a"), below("root", "root/new")],
    [["a", "b"], ["a", "b"], ["a"], ["new"]],
  );
  // A link is a name like others: whoever opens it follows none.
  assert.deepEqual(below("root", "root/out"), ["out"]);
  const outside = [below("root", "root"), below("root", "other"), below("root", "rootless"), below("root", "link/out")];
  assert.deepEqual(
    outside,
    outside.map(() => undefined),
  );
});

test("each name is that of one folder [W5]", () => {
  assert.deepEqual(checkedNames(["a", "..b", "c d"]), ["a", "..b", "c d"]);
  const wrong = [[], [""], ["a", ".."], ["."], ["a/b"], ["a\0"], ["\ud800"], ["a", ""]];
  assert.deepEqual(
    wrong.map((names) => checkedNames(names)),
    wrong.map(() => undefined),
  );
});
