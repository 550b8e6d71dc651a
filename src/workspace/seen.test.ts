import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderWith } from "../../test/world/folder.ts";
import { forget, isSameStamp, newSeen, remember, sawRemoval, sawWrite, stampOf } from "./seen.ts";

const stamp = { ino: 1, size: 2, mode: 3, mtimeMs: 4, ctimeMs: 5 };
const file = { state: { bytes: 2, mode: 0o644 }, lost: undefined, stamp, isSure: true, look: 1 };

test("a file is taken for unchanged only where nothing that the system says of it differs [W12]", () => {
  assert.equal(isSameStamp(stamp, stampOf({ ...stamp })), true);
  for (const name of ["ino", "size", "mode", "mtimeMs", "ctimeMs"] as const)
    assert.equal(isSameStamp(stamp, stampOf({ ...stamp, [name]: 9 })), false, name);
});

test("what we remove ourselves goes with all below it, and nothing that is only called alike; how long all paths are is known [W12]", () => {
  const paths = ["outputs/a", "outputs/a/b", "outputs/a/b/c", "outputs/ab", "outputs/ab/c", "temp/a"];
  const seen = newSeen();
  const known = () => [[...seen.files.keys()], seen.characters];
  const total = (...left: string[]) => [left, left.join("").length];
  for (const path of [...paths, ...paths]) remember(seen, path, file);
  assert.deepEqual(known(), total(...paths));
  sawRemoval(seen, "outputs/a/b/c");
  sawRemoval(seen, "outputs/a/b/nothing");
  assert.deepEqual(known(), total(...paths.filter((path) => path !== "outputs/a/b/c")));
  forget(seen, "outputs/a");
  sawRemoval(seen, "outputs/a");
  assert.deepEqual(known(), total("outputs/ab", "outputs/ab/c", "temp/a"));
  assert.deepEqual([forget(seen, "outputs/a"), forget(seen, "temp/a")], [false, true]);
  sawRemoval(seen, "");
  assert.deepEqual(known(), total());
  sawRemoval(undefined, "outputs/a");
});

test("what we write ourselves is known as it is, and is looked at again: it may be written to in the same moment [W12]", (t) => {
  const stat = statSync(join(folderWith(t, { a: "text" }), "a"));
  const seen = { ...newSeen(), look: 7 };
  const state = { bytes: 4, mode: 0o600, hash: "h" };
  sawWrite(seen, "outputs/a", { state, stat: undefined });
  sawWrite(undefined, "outputs/a", { state, stat });
  assert.equal(seen.files.size, 0);
  sawWrite(seen, "outputs/a", { state, stat });
  assert.deepEqual(seen.files.get("outputs/a"), {
    ...{ state, lost: undefined, stamp: stampOf(stat), isSure: false, look: 7 },
  });
  assert.deepEqual([seen.characters, seen.untold], ["outputs/a".length, []]);
});
