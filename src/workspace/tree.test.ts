import assert from "node:assert/strict";
import { closeSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { folderWith } from "../../test/world/folder.ts";
import { openFiles } from "../../test/world/open-files.ts";
import { openRoot } from "./descend.ts";
import { type DeepEntry, type DeepOptions, entriesBelow, type Passing } from "./tree.ts";

const plain: DeepOptions = { isHiddenShown: false, isSorted: true };

function openTree(t: TestContext, files: Record<string, string>) {
  const base = folderWith(t, files);
  const root = openRoot(join(base, "w")) ?? assert.fail();
  t.after(() => closeSync(root));
  const isOurs = (path: string) => path.startsWith(base);
  const before = openFiles().filter(isOurs).length;
  return {
    base,
    walk: (options: Partial<DeepOptions> = {}) => entriesBelow(root, { ...plain, ...options }),
    /** Opened since. */
    open: () => openFiles().filter(isOurs).length - before,
  };
}

function pathOf(found: DeepEntry | Passing): string[] {
  return typeof found === "string" ? (found === "unreadable" ? [found] : []) : [found.prefix + found.entry.shown];
}

test("folders come before what is in them, by name, and nothing hidden unless it is asked for, nor what lies below it [W8][F2]", (t) => {
  const { walk, base, open } = openTree(t, { "w/b/2": "", "w/b/1/x": "", "w/a": "", "w/.h/c": "", "w/d/": "" });
  symlinkSync("b", join(base, "w", "link"));
  const shown = [...walk()].flatMap(pathOf);
  assert.deepEqual(shown, ["a", "b", "d", "link", "b/1", "b/2", "b/1/x"]);
  assert.deepEqual([...walk({ isHiddenShown: true })].flatMap(pathOf), [
    ".h",
    "a",
    "b",
    "d",
    "link",
    ".h/c",
    ...shown.slice(4),
  ]);
  assert.deepEqual([...walk({ isSorted: false })].flatMap(pathOf).sort(), shown.toSorted());
  assert.equal(open(), 0);
});

test("names that are no text are shown with a mark, or where each must have a path of its own, byte by byte [W8][W12]", (t) => {
  const { walk, base } = openTree(t, { "w/a": "" });
  const odd = (name: string) => Buffer.from(join(base, "w", name), "latin1");
  mkdirSync(odd("f\xff"));
  for (const name of ["x\xe9", "x\xe8", "\xff", "tab\t\xff", "f\xff/in"]) writeFileSync(odd(name), "");
  writeFileSync(join(base, "w", "\uFFFD"), "a name that is text");
  const mark = "\uFFFD";
  assert.deepEqual(
    [...walk()].flatMap(pathOf).sort(),
    ["a", `f${mark}`, `f${mark}/in`, `tab\t${mark}`, `x${mark}`, `x${mark}`, mark, mark].sort(),
  );
  assert.deepEqual(
    [...walk({ isExact: true })].flatMap(pathOf).sort(),
    ["a", "f\\xff", "f\\xff/in", "tab\\x09\\xff", "x\\xe8", "x\\xe9", "\\xff", mark].sort(),
  );
});

test("however deep a walk goes it has few folders open, finds its way back to those it closed, and leaves none open [W8][Q1]", (t) => {
  const { walk, base, open } = openTree(t, { "w/": "" });
  let folder = join(base, "w");
  for (let depth = 0; depth < 300; depth += 1) {
    mkdirSync(join(folder, "z", "in"), { recursive: true });
    folder = join(folder, "d");
    mkdirSync(folder);
  }
  let [most, folders] = [0, 0];
  for (const found of walk()) {
    most = Math.max(most, open());
    if (typeof found === "object") folders += 1;
    else assert.notEqual(found, "unreadable");
  }
  assert.deepEqual([folders, open()], [900, 0]);
  assert.ok(most > 100 && most <= 130, `${most} open at a time`);
  for (const found of walk()) if (typeof found === "object" && found.isTooDeep) break;
  assert.equal(open(), 0, "left in the middle");
});

test("a folder that is moved elsewhere while a walk is deep inside leads it to nothing there [W5][S5]", (t) => {
  const { walk, base, open } = openTree(t, { "w/": "", "elsewhere/z/secret": "secret" });
  const names = Array.from({ length: 140 }, () => "d");
  mkdirSync(join(base, "w", ...names), { recursive: true });
  for (let depth = 0; depth < 140; depth += 1)
    mkdirSync(join(base, "w", ...names.slice(0, depth), "z", "in"), { recursive: true });
  let [isMoved, unreadable] = [false, 0];
  const after: string[] = [];
  let folders = 0;
  for (const found of walk()) {
    if (found === "unreadable") unreadable += 1;
    if (typeof found !== "object") continue;
    folders += 1;
    after.push(found.entry.shown);
    if (isMoved || folders < 2 * 140) continue;
    isMoved = true;
    renameSync(join(base, "w/d/d/d/d/d"), join(base, "elsewhere/d"));
  }
  assert.deepEqual([isMoved, after.includes("secret"), open()], [true, false, 0]);
  assert.equal(unreadable, 5, "what was still to come in the five folders above it");
  assert.equal(folders, 3 * 140 - 5);
});

test("what vanishes or becomes something else while a walk goes on is left out, and holds nobody up [W8]", (t) => {
  const { walk, base, open } = openTree(t, { "w/a/x": "", "w/b/x": "", "w/c/x": "" });
  const found: string[] = [];
  let isOver = false;
  for (const entry of walk()) {
    found.push(...pathOf(entry));
    if (isOver || found.at(-1) !== "c") continue;
    isOver = true;
    rmSync(join(base, "w/a"), { recursive: true });
    rmSync(join(base, "w/b"), { recursive: true });
    symlinkSync("c", join(base, "w/b"));
  }
  assert.deepEqual([found, open()], [["a", "b", "c", "c/x"], 0]);
});
