import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { folderWith } from "../../test/world/folder.ts";
import { withImages } from "../../test/world/images.ts";
import { systemIds } from "../base/ids.ts";
import { failed, ok } from "../base/result.ts";
import { openBooks } from "./books.ts";
import { smallImages } from "./images.testing.ts";
import { layoutOf } from "./layout.ts";
import { openPlots } from "./plots.ts";
import { newSeen } from "./seen.ts";

const needsRoot = { skip: process.geteuid?.() === 0 ? false : "needs root to mount a small disk" };

function openGround(t: TestContext, files: Record<string, string>, { hasImages = false } = {}) {
  const imagesOf = smallImages(t);
  const base = folderWith(t, files);
  const [layout, books] = [layoutOf(base), openBooks()];
  const images = hasImages ? imagesOf({ layout, books }) : undefined;
  const plots = openPlots({ layout, books, ids: systemIds, images });
  const path = (...names: string[]) => join(base, ...names);
  return { base, books, plots, images, staging: layout.stagingFolder, path };
}

test("a name that we would not have given names nothing: it is not there, and is neither opened, moved nor removed [W5][W10]", async (t) => {
  const files = { "outside/a": "a", "workspace/c/a": "a", "images/outside": "", "images/workspace/d": "" };
  const { plots, path } = openGround(t, files, { hasImages: true });
  assert.equal(plots.has("workspace/d"), true, "an image takes its place");
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

test(
  "what lies in an image is that of the image: opened, moved and removed there, and a folder of that name goes with it [W10][X4]",
  withImages(async (t) => {
    const files = { "workspace/d/a": "a", "workspace/e/a": "a", "images/workspace/e/": "", "images/workspace/b": "" };
    const { plots, path, images } = openGround(t, files, { hasImages: true });
    assert.ok(images);
    const made = await images.make("workspace/c", (folder) => writeFileSync(join(folder, "a"), "in the image"));
    assert.deepEqual(made, ok(undefined));
    const opened = await plots.open("workspace/c");
    assert.ok(opened.ok && opened.value);
    const { folder, stagingFolder, isImage } = opened.value;
    const shown = [path("workspace/c"), folder].map((place) => readFileSync(join(place, "a"), "utf8"));
    assert.deepEqual([isImage, ...shown], [true, "in the image", "in the image"]);
    assert.equal(statSync(stagingFolder).dev, statSync(folder).dev);
    assert.deepEqual(await plots.open("workspace/b"), failed("io"), "what cannot be mounted");

    const used = openSync(join(folder, "a"), "r");
    const told: string[] = [];
    const move = () => plots.move("workspace/c", "trash/0123abcd", async () => void told.push("noted"));
    assert.deepEqual([await move(), ...told], [ok(false)], "somebody reads in it");
    closeSync(used);
    assert.deepEqual([await move(), ...told], [ok(true), "noted"]);
    assert.deepEqual([plots.has("workspace/c"), plots.has("trash/0123abcd")], [false, true]);

    assert.deepEqual([await plots.remove("workspace/e"), existsSync(path("workspace/e/a"))], [failed("io"), true]);
    rmdirSync(path("images/workspace/e"));
    writeFileSync(path("images/workspace/e"), "");
    assert.deepEqual([await plots.remove("workspace/e"), plots.has("workspace/e")], [ok(undefined), false]);
    assert.equal(existsSync(path("images/workspace/e")), false);
    assert.deepEqual([await plots.remove("workspace/d"), existsSync(path("workspace/d"))], [ok(undefined), false]);
  }),
);

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
  const { plots, path, books } = openGround(t, {}, { hasImages: true });
  const count = { bytes: 0, files: 0, folders: 0, trustedUntil: 0 };
  const places = [path("workspace/c"), path("mounted/workspace/c/files"), path("workspace/d")];
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
