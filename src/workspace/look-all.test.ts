import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { hash as digest } from "node:crypto";
import { chmodSync, closeSync, linkSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { folderWith } from "../../test/world/folder.ts";
import { openFiles } from "../../test/world/open-files.ts";
import { quietLogger, testLimits, testWorkspace } from "../../test/world/workspace.ts";
import { systemClock } from "../base/clock.ts";
import { systemIds } from "../base/ids.ts";
import { openRoot } from "./descend.ts";
import type { Visit } from "./files.ts";
import { type Kept, openKept } from "./kept.ts";
import { type LookOptions, lookAll } from "./look-all.ts";
import { newSeen, remember } from "./seen.ts";
import { visitOf } from "./visit.testing.ts";

const sha = (content: string | Buffer) => digest("sha256", content);
const nobodyShares = async () => new Set<number>();
const isRoot = process.geteuid?.() === 0;

/** A workspace of the real disk, and what is known of it. */
function openLook(t: TestContext, files: Record<string, string>, kind: Visit["kind"] = "conversation") {
  const base = folderWith(t, files);
  const root = openRoot(join(base, "w")) ?? assert.fail();
  t.after(() => closeSync(root));
  const seen = newSeen();
  const logged: string[] = [];
  const common = { clock: systemClock, ids: systemIds, logger: quietLogger(logged), limits: testLimits };
  const kept = openKept({ ...common, folder: join(base, "kept"), books: new Map() });
  const visit = visitOf(base, { kind, root });
  return {
    ...{ base, seen, kept, logged, path: (...names: string[]) => join(base, "w", ...names) },
    look: (options: LookOptions = {}, keeper: Kept = kept) => lookAll({ ...visit, ...options }, seen, keeper),
    /** What was found since this was asked last. */
    told() {
      const found = seen.untold.map(({ path, before, after, lost }) => [path, before?.hash, after?.hash, lost]);
      seen.untold = [];
      return found;
    },
  };
}

test("a file that cannot have changed is not read again, unless programs have it in their memory, or nobody knows which they have [W12]", async (t) => {
  const { look, told, seen, path } = openLook(t, { "w/outputs/a": "text" });
  const known = () => seen.files.get("outputs/a") ?? assert.fail();
  const lookUntilSure = async () => {
    do {
      await look({ sharedFiles: nobodyShares });
    } while (!known().isSure);
    told();
  };
  /** As if its memory had been written to: only whoever reads it finds that it is not what it was. */
  const finds = async (options: LookOptions) => {
    await lookUntilSure();
    const other = sha("in memory");
    seen.files.set("outputs/a", { ...known(), state: { ...known().state, hash: other } });
    await look(options);
    const found = told().map(([name, before, after]) => [name, before === other, after === sha("text")]);
    seen.files.delete("outputs/a");
    return found;
  };
  const change = [["outputs/a", true, true]];
  assert.deepEqual(await finds({ sharedFiles: nobodyShares }), []);
  assert.deepEqual(await finds({}), [], "where there is no memory to ask for");
  assert.deepEqual(await finds({ sharedFiles: async () => new Set([statSync(path("outputs/a")).ino]) }), change);
  assert.deepEqual(await finds({ sharedFiles: async () => new Set([1]) }), []);
  assert.deepEqual(await finds({ sharedFiles: async () => undefined }), change);
  const asked: string[] = [];
  const sharedFiles = async () => void asked.push("asked");
  assert.deepEqual([await finds({ sharedFiles, isQuick: true }), asked], [[], []], "who is in a hurry does not ask");
});

test("what is read in a hurry, or while programs share it, is looked at again by the next look [W12]", async (t) => {
  const { look, seen, path } = openLook(t, { "w/outputs/a": "text" });
  const isSure = async (options: LookOptions) => {
    seen.files.clear();
    // Until the disk's clock has gone on since it was written, whatever the disk takes for a moment.
    for (let looks = 0; looks < 50; looks += 1) {
      await look(options);
      if (seen.files.get("outputs/a")?.isSure) return true;
      await nextLoop();
    }
    return false;
  };
  while (!(await isSure({}))) await nextLoop();
  assert.equal(await isSure({ sharedFiles: nobodyShares }), true);
  assert.equal(await isSure({ sharedFiles: nobodyShares, isQuick: true }), false);
  assert.equal(await isSure({ sharedFiles: async () => new Set([statSync(path("outputs/a")).ino]) }), false);
});

test("a large file is watched as a small one is: what cannot be read or kept of it is said [W12][Q2]", async (t) => {
  const [large, other] = ["1".repeat(300_000), "2".repeat(300_000)];
  const { look, told, path, base, logged } = openLook(t, { "w/outputs/a": large, "w/outputs/b": large });
  await look();
  assert.deepEqual(told().sort(), [
    ["outputs/a", undefined, sha(large), undefined],
    ["outputs/b", undefined, sha(large), undefined],
  ]);
  linkSync(path("outputs/a"), path("outputs/second"));
  writeFileSync(path("outputs/b"), other);
  await look();
  assert.deepEqual(told().sort(), [
    ["outputs/a", sha(large), undefined, undefined],
    ["outputs/b", sha(large), sha(other), undefined],
    ["outputs/second", undefined, undefined, undefined],
  ]);
  rmSync(join(base, "kept"), { recursive: true });
  writeFileSync(join(base, "kept"), "in the way");
  for (const name of ["c", "d"]) writeFileSync(path("outputs", name), name.repeat(300_000));
  await look();
  told();
  for (const name of ["c", "d"]) rmSync(path("outputs", name));
  rmSync(path("outputs/second"));
  await look();
  assert.deepEqual(told().sort(), [
    ["outputs/a", undefined, sha(large), "unreadable"],
    ["outputs/c", sha("c".repeat(300_000)), undefined, "quota"],
    ["outputs/d", sha("d".repeat(300_000)), undefined, "quota"],
    ["outputs/second", undefined, undefined, "unreadable"],
  ]);
  assert.equal(logged.length, 1, logged.join());
  assert.match(logged[0] ?? "", /^earlier contents of files are not kept for undo/);
  assert.deepEqual(
    openFiles().filter((name) => name.startsWith(path("outputs"))),
    [],
  );
});

test("what we write ourselves while a large file is looked at is no change by a program [W12]", async (t) => {
  const { look, told, seen, kept } = openLook(t, { "w/outputs/a": "1".repeat(300_000) });
  const own = { state: { bytes: 3, mode: 0o644, hash: sha("own") }, lost: undefined, isSure: false, look: 1 } as const;
  const stamp = { ino: 1, size: 3, mode: 0o644, mtimeMs: 1, ctimeMs: 1 };
  const keep: Kept["keep"] = async () => {
    remember(seen, "outputs/a", { ...own, stamp });
    return undefined;
  };
  await look({}, { ...kept, keep });
  assert.deepEqual([told(), seen.files.get("outputs/a")?.state.hash], [[], sha("own")]);
});

test("a look that is broken off tells nothing as removed, and counts nothing; one that went through all does both [W12][X4]", async (t) => {
  const { look, told, path } = openLook(t, { "w/outputs/a": "a", "w/temp/b": "b", "w/uploads/c": "c" });
  const first = await look();
  assert.deepEqual([first.passedOver, first.count?.files, first.count?.folders], [0, 3, 3]);
  told();
  rmSync(path("outputs/a"));
  assert.deepEqual([await look({ signal: AbortSignal.abort() }), told()], [{ passedOver: 0, count: undefined }, []]);
  assert.equal((await look()).count?.files, 2);
  assert.deepEqual(told(), [["outputs/a", sha("a"), undefined, undefined]]);
});

test("of a conversation the three folders are watched that programs can write, of a task everything is; all of it counts [W12][X4]", async (t) => {
  const paths = ["outputs/a", "uploads/a", "temp/deep/a", "outputs2/a", "top", "skills/a"];
  const files = Object.fromEntries(paths.map((path) => [`w/${path}`, ""]));
  for (const [kind, watched] of [
    ["conversation", ["outputs/a", "temp/deep/a", "uploads/a"]],
    ["task", paths.toSorted()],
  ] as const) {
    const { look, told } = openLook(t, files, kind);
    const { count } = await look();
    assert.deepEqual(
      [
        told()
          .map(([path]) => path)
          .sort(),
        count?.files,
      ],
      [watched, 6],
    );
  }
});

test("a hundred thousand files are watched, and of those beyond it is said how many they are [W12][X4]", async (t) => {
  const { look, told, seen } = openLook(t, { "w/outputs/a": "a", "w/outputs/b": "b", "w/outputs/c": "c" });
  await look();
  told();
  const known = seen.files.get("outputs/a") ?? assert.fail();
  for (const name of ["b", "c"]) seen.files.delete(`outputs/${name}`);
  for (let count = 1; count < 99_999; count += 1) seen.files.set(`temp/${count}`, known);
  const { passedOver } = await look();
  const met = told().flatMap(([path]) => (String(path).startsWith("outputs/") ? [path] : []));
  assert.deepEqual([passedOver, met.length], [1, 1], "the one that was known, and one more");
});

test("of a change it is said when its earlier content was tidied away meanwhile [W12]", async (t) => {
  const { workspace, folder, base } = await testWorkspace(t);
  writeFileSync(join(folder, "outputs", "a"), "before");
  const observed = await workspace.observe();
  assert.ok(observed.ok);
  rmSync(join(base, "kept", "contents"), { recursive: true });
  writeFileSync(join(folder, "outputs", "a"), "after");
  const changes = await observed.value.changes();
  assert.deepEqual(changes.ok && changes.value.map(({ path, lost }) => [path, lost]), [["outputs/a", "quota"]]);
});

test("what is removed is told also while there is a folder that may not be read, and what lies in that one is not [W12]", {
  skip: isRoot ? false : "needs root to become another user",
}, (t) => {
  const base = folderWith(t, {});
  chmodSync(base, 0o777);
  const own = ["locked/f", "gone", "turned", "led/x", "away/y", "stays"];
  const outputs = join(base, "workspace/w1/outputs");
  for (const name of ["locked", "led", "away"]) mkdirSync(join(outputs, name), { recursive: true });
  for (const name of own) writeFileSync(join(outputs, name), name);
  spawnSync("chown", ["-R", "65534:65534", join(base, "workspace")]);
  const module = join(import.meta.dirname, "../../test/world/workspace.ts");
  const text = `import * as fs from "node:fs";
const { testWorkspace } = await import(${JSON.stringify(module)});
process.setgid(65534);
process.setuid(65534);
const { workspace, folder } = await testWorkspace({ after() {} }, { base: ${JSON.stringify(base)} });
const { value: observation } = await workspace.observe();
process.chdir(folder + "/outputs");
fs.chmodSync("locked", 0);
fs.rmSync("gone");
fs.rmSync("turned");
fs.mkdirSync("turned");
fs.renameSync("led", "elsewhere");
fs.symlinkSync("elsewhere", "led");
fs.rmSync("away", { recursive: true });
const { value: changes } = await observation.changes();
fs.chmodSync("locked", 0o755);
const told = changes.map(({ path, before, after }) => [path, before?.bytes ?? 0, after?.bytes ?? 0]);
process.stdout.write(JSON.stringify(told));`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", text], { encoding: "utf8" });
  assert.equal(stderr, "");
  assert.deepEqual(JSON.parse(stdout), [
    ["outputs/away/y", 6, 0],
    ["outputs/elsewhere/x", 0, 5],
    ["outputs/gone", 4, 0],
    ["outputs/led/x", 5, 0],
    ["outputs/turned", 6, 0],
  ]);
});
