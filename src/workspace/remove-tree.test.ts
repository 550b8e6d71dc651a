import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemIds } from "../base/ids.ts";
import { openBooks } from "./books.ts";
import { isLeftBehind, removeTree } from "./remove-tree.ts";

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
