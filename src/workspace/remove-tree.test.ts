import assert from "node:assert/strict";
import { chmodSync, closeSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { folderWith } from "../../test/world/folder.ts";
import { openFiles } from "../../test/world/open-files.ts";
import { systemIds } from "../base/ids.ts";
import { failed, ok } from "../base/result.ts";
import { openBooks } from "./books.ts";
import { openRoot } from "./descend.ts";
import { emptyTree, isLeftBehind, removeTree } from "./remove-tree.ts";

test("what a removal has put aside is left behind when it was cut, not while it goes on [S6][W11]", async (t) => {
  const base = mkdtempSync(join(tmpdir(), "agentyard-remove-"));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  const [stagingFolder, path, books] = [join(base, "staging"), join(base, "tree"), openBooks()];
  for (let number = 0; number < 50; number += 1) mkdirSync(join(path, `${number}`, "below"), { recursive: true });
  const seen = () => readdirSync(stagingFolder).map((name) => isLeftBehind(name, books));
  const during: boolean[] = [];
  const isOver = () => {
    during.push(...seen());
    return during.length > 100;
  };
  const cut = await removeTree(path, { stagingFolder, ids: systemIds, books, isOver });
  assert.deepEqual([cut, new Set(during)], [{ ok: false, failure: "broken_off" }, new Set([false])]);
  assert.deepEqual([new Set(seen()), isLeftBehind("draft", books)], [new Set([true]), false]);
});

test("what is put into folders while they are removed goes with them, as does what is no folder; nothing is no failure [S6][W10]", async (t) => {
  const base = folderWith(t, { "tree/a/b/c": "", "tree/d": "", file: "" });
  const [stagingFolder, books] = [join(base, "staging"), openBooks()];
  let put = 0;
  const isOver = () => {
    const folders = readdirSync(stagingFolder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const { name } of put < 100 ? folders : []) {
      put += 1;
      writeFileSync(join(stagingFolder, name, String(put)), "");
    }
    return false;
  };
  const removal = { stagingFolder, ids: systemIds, books };
  assert.deepEqual(await removeTree(join(base, "tree"), { ...removal, isOver }), ok(undefined));
  assert.ok(put >= 100);
  for (const name of ["file", "none"]) assert.deepEqual(await removeTree(join(base, name), removal), ok(undefined));
  assert.deepEqual([readdirSync(base), readdirSync(stagingFolder), books.removals.size], [["staging"], [], 0]);
  assert.deepEqual(
    openFiles().filter((path) => path.startsWith(base)),
    [],
  );
});

test("a folder that could not be emptied to its end is as open as it was, and that it was cut is said [W10][X1]", async (t) => {
  const base = folderWith(t, { "w/a": "", "w/b/c": "" });
  const folder = openRoot(join(base, "w")) ?? assert.fail();
  chmodSync(join(base, "w"), 0o1775);
  const removal = { stagingFolder: join(base, "staging"), ids: systemIds, books: openBooks() };
  assert.deepEqual(await emptyTree(folder, { ...removal, isOver: () => true }), failed("broken_off"));
  assert.equal(statSync(join(base, "w")).mode & 0o7777, 0o1775);
  assert.deepEqual(await emptyTree(folder, removal), ok(undefined));
  assert.deepEqual([readdirSync(join(base, "w")), statSync(join(base, "w")).mode & 0o7777], [[], 0o1775]);
  closeSync(folder);
});
