import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { until } from "../../test/world/events.ts";
import { mountsBelow, withImages } from "../../test/world/images.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { quietLogger, testLimits } from "../../test/world/workspace.ts";
import { systemIds } from "../base/ids.ts";
import { failed, ok } from "../base/result.ts";
import { openBooks } from "./books.ts";
import { type Images, openImages } from "./images.ts";
import { layoutOf } from "./layout.ts";

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

const isRoot = process.geteuid?.() === 0;

/** What is said of a machine: this one, made poorer by the words before the command. */
function probe(t: TestContext, { under = [], folder, first = "" }: Machine = {}): unknown {
  const place = mkdtempSync(join(tmpdir(), "probe-"));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  const module = join(import.meta.dirname, "image-probe.ts");
  const text = `const { probeImages } = await import(${JSON.stringify(module)}); ${first}
const found = await probeImages(${JSON.stringify(folder ?? place)});
process.stdout.write(JSON.stringify(found.ok ? "ok" : [found.failure.code, found.failure.params]));`;
  const [program = "", ...args] = [...under, process.execPath, "--input-type=module", "--eval", text];
  const { stdout, stderr } = spawnSync(program, args, { encoding: "utf8", cwd: place });
  assert.deepEqual(readdirSync(place), [], "nothing of it stays");
  assert.notEqual(stdout, "", stderr);
  return JSON.parse(stdout);
}

type Machine = { readonly under?: readonly string[]; readonly folder?: string; readonly first?: string };

test("only root makes images, and whoever is not hears that [X3][P4]", (t) => {
  const found = probe(t, { first: "if (process.geteuid() === 0) process.seteuid(65534);" });
  assert.deepEqual(found, ["images_unusable", { why: "no_root", said: "" }]);
});

test("where a program, the disk or the right to mount is missing, that is said, and not another thing [X3][P4]", (t) => {
  // In a container without that right nothing can be hidden, either.
  if (!isRoot || spawnSync("unshare", ["--mount", "true"]).status !== 0)
    return t.skip("needs root with the right to mount");
  const hidden = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /usr/sbin && exec "$@"', "sh"];
  assert.deepEqual(probe(t, { under: hidden }), ["images_unusable", { why: "no_programs", said: "mkfs.ext4" }]);
  assert.deepEqual(probe(t, { folder: "/proc/none" }), ["images_unusable", { why: "no_disk", said: "io" }]);
  const unable = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin", "--"];
  const [code, params] = [probe(t, { under: unable })].flat();
  assert.deepEqual([code, Object(params).why], ["images_unusable", "no_loop"]);
  assert.match(Object(params).said, /^mount: /);
});
