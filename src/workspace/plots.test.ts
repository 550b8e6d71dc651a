import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { folderWith } from "../../test/world/folder.ts";
import { noted, partly, type Some } from "../../test/world/partly.ts";
import { systemIds } from "../base/ids.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { DiskFault } from "../words/words.ts";
import { openBooks } from "./books.ts";
import type { Images } from "./images.ts";
import { layoutOf } from "./layout.ts";
import { openPlots } from "./plots.ts";
import { newSeen } from "./seen.ts";

const needsRoot = { skip: process.geteuid?.() === 0 ? false : "needs root to mount a small disk" };

function openGround(t: TestContext, files: Record<string, string>, images?: Some<Images>) {
  const base = folderWith(t, files);
  const [layout, books] = [layoutOf(base), openBooks()];
  const plots = openPlots({ layout, books, ids: systemIds, images: images && partly<Images>(images) });
  return { base, books, plots, staging: layout.stagingFolder, path: (...names: string[]) => join(base, ...names) };
}

test("a name that we would not have given names nothing: it is not there, and is neither opened, moved nor removed [W5][W10]", async (t) => {
  const { plots, path } = openGround(t, { "outside/a": "a", "workspace/c/a": "a" }, { has: () => true });
  for (const name of ["outside", "../outside", "workspace/../outside", "", "workspace"]) {
    assert.deepEqual([plots.has(name), await plots.remove(name)], [false, ok(undefined)]);
    assert.deepEqual(await plots.move(name, "trash/0123abcd"), failed("io"));
    plots.settle(name);
  }
  const { plots: plain, path: pathTo } = openGround(t, { "workspace/c/a": "a" });
  assert.deepEqual(await plain.move("workspace/c", "outside"), failed("io"));
  assert.deepEqual([existsSync(pathTo("workspace/c/a")), existsSync(path("outside/a"))], [true, true]);
  assert.deepEqual(await plots.open("outside"), ok(undefined));
});

test("a folder is there, is opened, and is moved as a whole when that is noted; what is not there is not moved [W10]", async (t) => {
  const { plots, path, staging } = openGround(t, { "workspace/c/a": "a" });
  assert.deepEqual([plots.has("workspace/c"), plots.has("workspace/d")], [true, false]);
  const plot = { folder: path("workspace/c"), stagingFolder: staging, isImage: false };
  assert.deepEqual([await plots.open("workspace/c"), await plots.open("workspace/d")], [ok(plot), ok(undefined)]);
  const told: string[] = [];
  const moved = async () => {
    told.push(readFileSync(path("trash/0123abcd/a"), "utf8"));
    await nextLoop();
    told.push("noted");
  };
  assert.deepEqual([await plots.move("workspace/c", "trash/0123abcd", moved), ...told], [ok(true), "a", "noted"]);
  assert.equal(statSync(path("trash")).mode & 0o777, 0o700);
  assert.deepEqual(await plots.move("workspace/c", "trash/0123abce", moved), failed("io"));
  assert.equal(told.length, 2);
  symlinkSync("nowhere", path("workspace/link"));
  assert.equal(plots.has("workspace/link"), true, "also what leads nowhere takes a place");
});

test("what lies in an image is that of the image: opened, moved and removed there, and a folder of that name goes with it [W10][X4]", async (t) => {
  const told: unknown[] = [];
  const folders = { files: "/mounted/files", staging: "/mounted/staging", disk: "/disk" };
  const files = { "workspace/c/a": "a", "workspace/d/a": "a" };
  let removed: Result<void, DiskFault> = failed("io");
  const { plots, path } = openGround(t, files, {
    has: (name) => name !== "workspace/d",
    open: async (name) => (name === "workspace/b" ? failed("read_only") : ok(folders)),
    move: async (...given) => noted(told, given, ok(false)),
    remove: async (name) => noted(told, name, removed),
  });
  const plot = { folder: "/mounted/files", stagingFolder: "/mounted/staging", isImage: true };
  assert.deepEqual([await plots.open("workspace/c"), await plots.open("workspace/b")], [ok(plot), failed("read_only")]);
  const moved = async () => {};
  assert.deepEqual(await plots.move("workspace/c", "trash/0123abcd", moved), ok(false));
  assert.deepEqual(told, [["workspace/c", "trash/0123abcd", moved]]);
  assert.deepEqual([await plots.remove("workspace/c"), existsSync(path("workspace/c/a"))], [failed("io"), true]);
  removed = ok(undefined);
  assert.deepEqual([await plots.remove("workspace/c"), existsSync(path("workspace/c"))], [ok(undefined), false]);
  assert.deepEqual([await plots.remove("workspace/d"), existsSync(path("workspace/d"))], [ok(undefined), false]);
  assert.deepEqual(told.slice(1), ["workspace/c", "workspace/c"]);
});

test("with a task goes what its programs wrote to a folder that waits, and a removal that takes too long is cut [S6][W2]", async (t) => {
  const { plots, path, staging } = openGround(t, { "staging/wait-task/a": "of a program", "workspace/c/a": "" });
  assert.deepEqual(await plots.remove("workspace/task"), ok(undefined));
  assert.equal(existsSync(path("staging/wait-task/a")), true, "a conversation of that name has none");
  assert.deepEqual(await plots.remove("workspaces/task"), ok(undefined));
  assert.deepEqual([readdirSync(staging), readdirSync(path("workspaces"))], [[], []]);
  assert.deepEqual(await plots.remove("workspace/c", () => true), failed("broken_off"));
  assert.deepEqual([existsSync(path("workspace/c")), readdirSync(staging).length], [false, 1]);
});

test("of a folder that was moved away nothing is known any more, on the disk or in an image; of others all is [W10][W11]", (t) => {
  const { plots, path, books } = openGround(t, {}, { foldersOf: (name) => ({ files: `/mounted/${name}` }) });
  const count = { bytes: 0, files: 0, folders: 0, trustedUntil: 0 };
  const places = [path("workspace/c"), "/mounted/workspace/c", path("workspace/d")];
  for (const place of places) {
    books.usage.set(place, { bytes: 0, files: 0, countedAt: 0, underWay: new Set() });
    books.seen.set(place, newSeen());
    books.counts.set(place, count);
  }
  plots.forget("workspace/c");
  const known = [books.usage, books.seen, books.counts].map((book) => [...book.keys()]);
  assert.deepEqual(
    known,
    Array.from({ length: 3 }, () => [path("workspace/d")]),
  );
});

/** A folder on a disk other than this one is on. */
function folderElsewhere(t: TestContext, folder: string): string {
  const { dev } = statSync(folder);
  const place = ["/dev/shm", "/var/tmp", "/tmp"].find((each) => existsSync(each) && statSync(each).dev !== dev);
  const made = mkdtempSync(join(place ?? assert.fail("there is one disk only"), "plots-"));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

const plotAt = (folder: string, stagingFolder: string) => ({ folder, stagingFolder, isImage: false });

test("what is to lie beside files of another disk is copied there with modes and links, and stays where it is [W10][X4]", async (t) => {
  const files = { "workspace/c/a": "text", "workspace/c/d/b": "", "workspace/e/": "" };
  const { plots, path, staging } = openGround(t, files);
  symlinkSync("/nowhere", path("workspace/c/link"));
  execFileSync("chmod", ["640", path("workspace/c/a")]);
  const from = plotAt(path("workspace/c"), staging);
  assert.deepEqual(await plots.beside(from, plotAt(path("workspace/e"), staging)), ok(from.folder), "it is there");
  const other = folderElsewhere(t, path("."));
  for (const name of ["files", "staging"]) mkdirSync(join(other, name));
  const near = await plots.beside(from, plotAt(join(other, "files"), join(other, "staging")));
  assert.ok(near.ok);
  assert.match(near.value.slice(other.length), /^\/staging\/made-[0-9a-f]{24}$/);
  assert.deepEqual(readdirSync(near.value, { recursive: true }).sort(), ["a", "d", "d/b", "link"]);
  assert.deepEqual(
    [lstatSync(join(near.value, "a")).mode & 0o777, readlinkSync(join(near.value, "link"))],
    [0o640, "/nowhere"],
  );
  assert.equal(readFileSync(path("workspace/c/a"), "utf8"), "text");
  const nowhere = plotAt(join(other, "files"), join(other, "staging", "none", "at-all"));
  assert.deepEqual(await plots.beside(from, nowhere), failed("io"));
});

test(
  "where there is no room for a copy that is said, and what was copied goes again [W10][W7]",
  needsRoot,
  async (t) => {
    const { plots, path, staging } = openGround(t, { "workspace/c/a": "x", "workspace/c/b": "y".repeat(100_000) });
    const small = mkdtempSync(join(tmpdir(), "small-"));
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", small]);
    t.after(() => {
      execFileSync("umount", ["-l", small]);
      rmSync(small, { recursive: true, force: true });
    });
    for (const name of ["files", "staging"]) mkdirSync(join(small, name));
    const to = plotAt(join(small, "files"), join(small, "staging"));
    assert.deepEqual(await plots.beside(plotAt(path("workspace/c"), staging), to), failed("full"));
    assert.deepEqual(readdirSync(join(small, "staging")), []);
  },
);
