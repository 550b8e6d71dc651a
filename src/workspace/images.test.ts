import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { until } from "../../test/world/events.ts";
import { mountsBelow, withImages } from "../../test/world/images.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { quietLogger, testLimits } from "../../test/world/workspace.ts";
import { systemIds } from "../base/ids.ts";
import { failed, ok } from "../base/result.ts";
import { openBooks } from "./books.ts";
import { type Images, openImages } from "./images.ts";
import { layoutOf } from "./layout.ts";

const idleMs = 600_000;

function openPlace(t: TestContext, folder = "data") {
  const base = mkdtempSync(join(tmpdir(), "images-"));
  const data = join(base, folder);
  mkdirSync(data);
  const started: Images[] = [];
  t.after(async () => {
    for (const images of started) await images.close();
    // What a test mounted itself, and what it found to be left. Blanks and the like are told as octal numbers.
    for (const place of mountsBelow(base).reverse())
      execFileSync("umount", ["-l", join(base, place.replaceAll("\\040", " ").replaceAll("\\134", "\\"))]);
    rmSync(base, { recursive: true, force: true });
  });
  const [clock, logged, layout] = [manualClock(), [] as string[], layoutOf(data)];
  const limits = { ...testLimits, bytesMax: 4 * 1024 ** 2, filesMax: 50 };
  const options = { layout, limits, clock, ids: systemIds, logger: quietLogger(logged), books: openBooks() };
  return {
    ...{ base, data, clock, logged, path: (...names: string[]) => join(data, ...names) },
    start(more: { readonly mountedMax?: number } = {}) {
      const images = openImages({ ...options, ...more });
      started.push(images);
      return images;
    },
    mounted: () => mountsBelow(data).sort(),
    /** Of others, and small. */
    mountDisk(place: string) {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=16k", "tmpfs", place]);
    },
  };
}

const saying = (text: string) => (folder: string) => writeFileSync(join(folder, "a"), text);

async function textIn(images: Images, name: string): Promise<string | undefined> {
  const opened = await images.open(name);
  return opened.ok && opened.value ? readFileSync(join(opened.value.files, "a"), "utf8") : undefined;
}

test(
  "an image is made once, with all that is laid out in it, and shown where its folder would be [W1][X4]",
  withImages(async (t) => {
    const { start, path, mounted } = openPlace(t);
    const images = start();
    const name = "workspace/c";
    assert.deepEqual([images.has(name), await images.open(name), mounted()], [false, ok(undefined), []]);
    const made = ["first", "second"].map((text) => images.make(name, saying(text)));
    assert.deepEqual(await Promise.all(made), [ok(undefined), ok(undefined)]);
    assert.deepEqual([images.has(name), mounted(), readdirSync(path("staging"))], [true, [], []]);
    const opened = await Promise.all([images.open(name), images.open(name)]);
    const folders = { files: path("mounted", name, "files"), staging: path("mounted", name, "staging") };
    const both = ok({ ...folders, disk: path("images/workspace") });
    assert.deepEqual(opened, [both, both]);
    assert.deepEqual(mounted(), ["mounted/workspace/c", "workspace/c"]);
    assert.deepEqual([await textIn(images, name), readFileSync(path(name, "a"), "utf8")], ["first", "first"]);
    const modeOf = (place: string) => statSync(place).mode & 0o777;
    assert.deepEqual(
      [folders.files, folders.staging, path("mounted"), path("workspace"), path("images")].map(modeOf),
      [0o755, 0o700, 0o700, 0o700, 0o700],
    );
    assert.equal(modeOf(path("images", name)), 0o600);
    assert.deepEqual(await images.make("trash/00000001", saying("old")), ok(undefined));
    assert.equal(await textIn(images, "trash/00000001"), "old");
    assert.equal(existsSync(path("trash")), false, "what lies in the trash is shown nowhere");
  }),
);

test(
  "an image that cannot be made leaves nothing behind, and one that is none is told without host paths [X4][Q1][Q2]",
  withImages(async (t) => {
    const { start, path, mounted, logged, data } = openPlace(t);
    const images = start();
    const name = "workspace/c";
    const missing = (folder: string) => writeFileSync(join(folder, "none", "a"), "");
    assert.deepEqual(await images.make(name, missing), failed("io"));
    const mistake = new RangeError("of ours");
    const mistaken = () => {
      throw mistake;
    };
    await assert.rejects(images.make(name, mistaken), mistake);
    assert.deepEqual([images.has(name), readdirSync(path("staging"))], [false, []]);
    mkdirSync(path("images/workspace"), { recursive: true });
    writeFileSync(path("images", name), "no file system");
    assert.deepEqual([await images.open(name), mounted()], [failed("io"), []]);
    assert.equal(logged.length, 1);
    assert.match(logged[0] ?? "", /^the image of \{name\} cannot be used: .*"name":"workspace\/c","said":"mount: /);
    assert.equal(logged[0]?.includes(data), false);
    assert.deepEqual(await images.remove(name), ok(undefined));
    assert.deepEqual([images.has(name), readdirSync(path("workspace"))], [false, []]);
  }),
);

test(
  "on a full disk an image is not made, and that is the reason [X4][W7]",
  withImages(async (t) => {
    const { start, data, path, mountDisk } = openPlace(t);
    mountDisk(data);
    const images = start();
    assert.deepEqual(await images.make("workspace/c", saying("")), failed("full"));
    assert.deepEqual([images.has("workspace/c"), readdirSync(path("staging"))], [false, []]);
  }),
);

test(
  "an image is moved only where nothing is and while nobody works with it, and nobody gets at it before that is noted [W10]",
  withImages(async (t) => {
    const { start, path } = openPlace(t);
    let images = start();
    const [a, b, trash] = ["workspace/a", "workspace/b", "trash/00000001"] as const;
    for (const name of [a, b]) assert.deepEqual(await images.make(name, saying(name)), ok(undefined));
    assert.deepEqual(await images.move(a, b), ok(false));
    mkdirSync(path("workspace/c"), { recursive: true });
    assert.deepEqual(await images.move(a, "workspace/c"), ok(false), "a folder is there");
    assert.deepEqual([await textIn(images, a), await textIn(images, b)], [a, b]);
    const file = openSync(path("mounted", a, "files/a"), "r");
    assert.deepEqual(await images.move(a, trash, async () => assert.fail("it stays")), ok(false));
    closeSync(file);
    assert.equal(await textIn(images, a), a);

    await images.close();
    images = start();
    const told: unknown[] = [];
    let later: Promise<unknown> = Promise.resolve();
    const moved = async () => {
      told.push(images.has(a), images.has(trash));
      const made = images.make(a, () => told.push("made anew"));
      // It is there already, which is answered as soon as anybody gets at it.
      later = Promise.all([made, images.make(trash, () => assert.fail()).then(() => told.push("there"))]);
      for (let turns = 0; turns < 20; turns += 1) await nextLoop();
      told.push("noted");
    };
    const moving = images.move(a, trash, moved);
    const meanwhile = images.open(a);
    assert.deepEqual([await moving, await meanwhile], [ok(true), ok(undefined)]);
    await later;
    assert.deepEqual([...told.slice(0, 3), ...told.slice(3).sort()], [false, true, "noted", "made anew", "there"]);
    assert.deepEqual([await textIn(images, trash), await textIn(images, b)], [a, b]);
  }),
);

test(
  "an image is removed with what is open in it, and whoever still holds it holds nothing [S6][X4]",
  withImages(async (t) => {
    const { start, path, mounted } = openPlace(t);
    const images = start();
    const name = "workspace/c";
    await images.make(name, saying("secret"));
    await images.open(name);
    const held = [path("images", name), path("mounted", name, "files/a")].map((place) => openSync(place, "r"));
    t.after(() => {
      for (const fd of held) closeSync(fd);
    });
    assert.deepEqual(await images.remove(name), ok(undefined));
    assert.deepEqual([images.has(name), mounted(), fstatSync(held[0] ?? -1).size], [false, [], 0]);
    assert.deepEqual([existsSync(path("mounted", name)), existsSync(path(name))], [false, false]);
    assert.deepEqual(await images.remove(name), ok(undefined), "nothing is fine too");
  }),
);

test(
  "an image that nobody used for ten minutes is unmounted, not a moment before, and not one that is just used again [X4]",
  withImages(async (t) => {
    const { start, clock, mounted } = openPlace(t);
    const images = start();
    const [a, b] = ["trash/0000000a", "trash/0000000b"] as const;
    const are = (...names: string[]) =>
      until(`${names} alone`, () => mounted().join() === names.map((name) => `mounted/${name}`).join());
    /** When this is answered, whatever was begun with it before is over. */
    const settled = (name: string) => images.make(name, () => assert.fail("it is there"));
    for (const name of [a, b]) await images.make(name, saying(name));
    await images.open(a);
    clock.move(1);
    await images.open(b);
    clock.move(idleMs - 2);
    await Promise.all([settled(a), settled(b)]);
    await are(a, b);
    clock.move(1);
    await are(b);
    clock.move(idleMs);
    const again = images.open(b);
    await Promise.all([again, settled(b)]);
    await are(b);
    clock.move(idleMs);
    await are();
    assert.equal(clock.timers(), 1);
    clock.move(idleMs);
    assert.equal(clock.timers(), 0, "nothing is mounted that could be idle");
    assert.equal(await textIn(images, a), a);
    clock.move(idleMs);
    await are();
    await images.close();
    assert.equal(clock.timers(), 0);
  }),
);

test(
  "of as many as may be mounted the one goes for a new one that was used the longest ago [X4]",
  withImages(async (t) => {
    const { start, path, mounted } = openPlace(t);
    const mountedMax = 5;
    const images = start({ mountedMax });
    const names = Array.from({ length: mountedMax + 1 }, (_, n) => `trash/${String(n).padStart(8, "0")}`);
    const [first = "", second = "", ...others] = names;
    await images.make(first, saying("one for all"));
    // The same file under many names: only the first has to be made.
    for (const name of [second, ...others]) linkSync(path("images", first), path("images", name));
    for (const name of names.slice(0, mountedMax)) assert.ok((await images.open(name)).ok);
    await images.open(first);
    assert.equal(mounted().length, mountedMax);
    await images.open(names[mountedMax] ?? "");
    await until("one is gone", () => mounted().length === mountedMax);
    assert.deepEqual(
      mounted(),
      names.filter((name) => name !== second).map((name) => `mounted/${name}`),
    );
  }),
);

test(
  "what is closed mounts nothing any more, also what was just about to be [X4][P3]",
  withImages(async (t) => {
    const { start, path, mounted } = openPlace(t);
    const images = start();
    const name = "workspace/c";
    await images.make(name, saying(""));
    const opening = images.open(name);
    while (!existsSync(path("mounted", name))) await nextLoop();
    await images.close();
    assert.deepEqual([await opening, mounted()], [failed("broken_off"), []]);
    assert.deepEqual([await images.open(name), mounted()], [failed("broken_off"), []]);
    assert.deepEqual([readdirSync(path("mounted/workspace")), readdirSync(path("workspace"))], [[], []]);
  }),
);

test(
  "what a killed process left mounted is taken away before anything is used, and nothing of others is [W4][X4]",
  withImages(async (t) => {
    const { start, path, logged, mountDisk } = openPlace(t, "my data\\1");
    const name = "workspaces/task";
    const before = start();
    await before.make(name, saying("kept"));
    await before.close();
    for (const place of ["mounted/workspaces/task", name, "others"]) mkdirSync(path(place), { recursive: true });
    execFileSync("mount", ["-o", "loop", path("images", name), path("mounted", name)]);
    execFileSync("mount", ["--bind", path("mounted", name, "files"), path(name)]);
    mountDisk(path("others"));
    const images = start();
    assert.equal(await textIn(images, name), "kept");
    assert.deepEqual(logged, ['{count} mounts of an earlier process were taken away {"count":2}']);
    assert.equal(statSync(path("others")).dev === statSync(path(".")).dev, false);
    await images.close();
    assert.deepEqual(readdirSync(path("workspaces")), []);
  }),
);
