import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { folderWith } from "../../test/world/folder.ts";
import { openFiles } from "../../test/world/open-files.ts";
import { testWorkspace } from "../../test/world/workspace.ts";
import { systemIds } from "../base/ids.ts";
import { ok } from "../base/result.ts";
import { openBooks } from "./books.ts";
import { checkRegular, openRegular, openRoot } from "./descend.ts";
import { Refused } from "./faults.ts";
import { removeTree } from "./remove-tree.ts";
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
    if (folders % 25 === 0) most = Math.max(most, open());
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

function openBase(t: TestContext, files: Record<string, string>) {
  const base = folderWith(t, files);
  const root = openRoot(base) ?? assert.fail();
  t.after(() => closeSync(root));
  // What else this process has open comes and goes.
  const own = () => openFiles().filter((path) => path.startsWith(base) || path.startsWith("/proc/"));
  const before = own();
  return { base, root, isClean: () => assert.deepEqual(own(), before) };
}

/** The code and the cause with which a step is refused. */
function refusal(work: () => unknown): string {
  try {
    work();
    return "taken";
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { code, params } = error.reason;
    return [code, "path" in params ? params.path : "", "why" in params ? params.why : ""].join(" ").trim();
  }
}

test("a file is read only where it is one, has one name, and lies on the disk of its workspace; each refusal has its reason [W5]", (t) => {
  const { base, root, isClean } = openBase(t, { file: "text", two: "", "folder/": "" });
  linkSync(join(base, "two"), join(base, "second"));
  symlinkSync("file", join(base, "link"));
  execFileSync("mkfifo", [join(base, "pipe")]);
  const { dev } = statSync(base);
  const told = (name: string, device = dev) => {
    const checked = refusal(() => checkRegular(lstatSync(join(base, name)), device, name));
    const opened = refusal(() => closeSync(openRegular(root, name, { device, path: name }).fd));
    assert.equal(opened, checked);
    return checked;
  };
  assert.equal(told("file"), "taken");
  assert.equal(told("file", dev + 1), "permission_denied file elsewhere");
  assert.equal(told("two"), "permission_denied two hard_link");
  assert.equal(told("link"), "permission_denied link link");
  assert.equal(told("pipe"), "permission_denied pipe special");
  assert.equal(told("folder"), "not_a_file folder");
  assert.throws(() => openRegular(root, "none", { device: dev, path: "none" }), { code: "ENOENT" });
  const { fd, stat } = openRegular(root, "file", { device: dev, path: "file" });
  unlinkSync(join(base, "file"));
  assert.deepEqual([readFileSync(fd, "utf8"), stat.size], ["text", 4]);
  closeSync(fd);
  isClean();
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
  assert.deepEqual(openFiles(base), []);
});

test("one read gives 16 MiB unless it is told otherwise, from where it is told [F2][Q2]", async (t) => {
  const { workspace, folder, base } = await testWorkspace(t);
  const large = 16 * 1024 ** 2;
  writeFileSync(join(folder, "outputs", "a"), "");
  truncateSync(join(folder, "outputs", "a"), large + 3);
  const read = async (range?: { offset?: number; bytesMax?: number }) => {
    const found = await workspace.read("outputs/a", range);
    return found.ok && [found.value.bytes.length, found.value.stat.bytes, found.value.isUnwritten];
  };
  assert.deepEqual(await read(), [large, large + 3, false]);
  assert.deepEqual(await read({ offset: 4 }), [large - 1, large + 3, false]);
  assert.deepEqual(await read({ bytesMax: large + 9 }), [large + 3, large + 3, false]);
  assert.deepEqual(openFiles(base), []);
});

test("hidden entries are listed and walked only when they are asked for, and a folder may be emptied that cannot be written to otherwise [F2][W10]", async (t) => {
  const { workspace, folder } = await testWorkspace(t);
  for (const name of ["outputs/a", "outputs/.hidden", ".top"]) closeSync(openSync(join(folder, name), "w"));
  const names = async (path: string | undefined, options?: { hidden?: boolean }) => {
    const listed = await workspace.list(path, options);
    return listed.ok && listed.value.entries.map(({ name }) => name);
  };
  assert.deepEqual([await names("outputs"), await names("outputs", { hidden: true })], [["a"], [".hidden", "a"]]);
  assert.deepEqual(await names(undefined, { hidden: true }), [".top", "outputs", "skills", "temp", "uploads"]);
  const walked = async (hidden: boolean) => {
    const walk = await workspace.walk(undefined, { hidden });
    const paths: string[] = [];
    for await (const { path } of walk.ok ? walk.value : []) paths.push(path);
    return paths.sort();
  };
  assert.deepEqual(await walked(false), ["outputs", "outputs/a", "skills", "temp", "uploads"]);
  assert.deepEqual(await walked(true), [
    ".top",
    "outputs",
    "outputs/.hidden",
    "outputs/a",
    "skills",
    "temp",
    "uploads",
  ]);
  assert.deepEqual([await workspace.empty("outputs"), await names("outputs", { hidden: true })], [ok(undefined), []]);
});
