import assert from "node:assert/strict";
import { hash as digest } from "node:crypto";
import { closeSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { folderWith } from "../../test/world/folder.ts";
import { openFiles } from "../../test/world/open-files.ts";
import { quietLogger, testLimits, testWorkspace } from "../../test/world/workspace.ts";
import { systemClock } from "../base/clock.ts";
import { systemIds } from "../base/ids.ts";
import { ok } from "../base/result.ts";
import { openBooks } from "./books.ts";
import { openRoot } from "./descend.ts";
import type { Visit } from "./files.ts";
import { type Kept, openKept } from "./kept.ts";
import { type LookOptions, lookAll } from "./look-all.ts";
import { isSameStamp, newSeen, type Seen, stampOf } from "./seen.ts";
import { lookAhead } from "./watch-programs.ts";

const sha = (content: string | Buffer) => digest("sha256", content);
const nobodyShares = async () => new Set<number>();

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
  assert.deepEqual(openFiles(path("outputs")), []);
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

test("a hundred thousand files or 32 MiB of paths are watched, and of those beyond it is said how many they are [W12][X4]", async (t) => {
  const { look, told, seen } = openLook(t, { "w/outputs/a": "a", "w/outputs/b": "b", "w/outputs/c": "c" });
  await look();
  told();
  const known = seen.files.get("outputs/a") ?? assert.fail();
  for (const name of ["b", "c"]) seen.files.delete(`outputs/${name}`);
  for (let count = 1; count < 99_999; count += 1) seen.files.set(`temp/${count}`, known);
  const { passedOver } = await look();
  const met = told().flatMap(([path]) => (String(path).startsWith("outputs/") ? [path] : []));
  assert.deepEqual([passedOver, met.length], [1, 1], "the one that was known, and one more");
  const long = openLook(t, { "w/outputs/a": "a", "w/outputs/b": "b" });
  long.seen.characters = 32 * 1024 ** 2 - 1;
  assert.equal((await long.look()).passedOver, 1, "no more than 32 MiB of paths");
});

const stamp = { ino: 1, size: 2, mode: 3, mtimeMs: 4, ctimeMs: 5 };

test("a file is taken for unchanged only where nothing that the system says of it differs [W12]", () => {
  assert.equal(isSameStamp(stamp, stampOf({ ...stamp })), true);
  for (const name of ["ino", "size", "mode", "mtimeMs", "ctimeMs"] as const)
    assert.equal(isSameStamp(stamp, stampOf({ ...stamp, [name]: 9 })), false, name);
});

async function place(...given: Parameters<typeof testWorkspace>) {
  const { workspace, folder } = await testWorkspace(...given);
  await workspace.write("outputs/old", "old");
  return {
    workspace,
    program: (name: string) => writeFileSync(join(folder, "outputs", name), "by a program"),
    async observe(options: Parameters<typeof workspace.observe>[0] = {}) {
      const observed = await workspace.observe(options);
      assert.ok(observed.ok);
      const { hasEarlier, changes, leave } = observed.value;
      const told = async () => {
        const answer = await changes();
        return answer.ok && answer.value.map(({ path }) => path);
      };
      return { hasEarlier, told, leave };
    },
  };
}

test("a first look that could not be taken is taken anew: what was there is not told as new [W12][Q2]", async (t) => {
  const { observe, program, workspace } = await place(t);
  const sharedFiles = () => Promise.reject(new Error("the sandbox is gone"));
  await assert.rejects(workspace.observe({ sharedFiles }), /the sandbox is gone/);
  const next = await observe({ isContinued: true });
  assert.equal(next.hasEarlier, false);
  program("new");
  assert.deepEqual(await next.told(), ["outputs/new"]);
});

test("what a file was before a change that nobody was told of yet is not given up for others [W12]", async (t) => {
  const { workspace, folder } = await testWorkspace(t, { limits: { keptBytesMax: 30 } });
  const program = (name: string, text: string) => writeFileSync(join(folder, "outputs", name), text.repeat(10));
  program("a", "1");
  const first = await workspace.observe();
  program("a", "2");
  const second = await workspace.observe();
  assert.ok(first.ok && second.ok);
  for (const name of ["b", "c"]) program(name, name);
  const told = await first.value.changes();
  assert.ok(told.ok);
  const [change] = told.value;
  assert.deepEqual([told.value.length, change?.path, change?.lost], [3, "outputs/a", undefined]);
  assert.equal((await workspace.restore("outputs/a", change?.before)).ok, true);
  assert.equal(readFileSync(join(folder, "outputs", "a"), "utf8"), "1".repeat(10));
});

test("of the files of all workspaces half a million are remembered, or 64 MiB of paths: then the longest unobserved go [W12][Q1]", async (t) => {
  const base = folderWith(t, {});
  const many = (size: number): Seen["files"] => Object.defineProperty(new Map(), "size", { value: size });
  /** Which of three workspaces are still known when a look was taken at one more, in which there is nothing. */
  const left = async (files: readonly number[], characters: readonly number[] = [], waiting = 0) => {
    const books = openBooks();
    for (const [index, size] of files.entries()) {
      books.seen.set(`${index}`, { ...newSeen(), files: many(size), characters: characters[index] ?? 0, waiting });
    }
    await lookAhead(visitOf(base, { kind: "task", books }), { signal: new AbortController().signal });
    return [...books.seen.keys()].filter((name) => !name.startsWith("/")).join();
  };
  const mebibyte = 1024 ** 2;
  assert.equal(await left([200_000, 200_000, 100_000]), "0,1,2");
  assert.equal(await left([200_000, 200_000, 100_001]), "1,2");
  assert.equal(await left([1, 400_000, 100_000]), "1,2");
  assert.equal(await left([1, 400_000, 100_001]), "2");
  assert.equal(await left([1, 1, 1], [32 * mebibyte, 32 * mebibyte]), "0,1,2");
  assert.equal(await left([1, 1, 1], [32 * mebibyte, 32 * mebibyte, 1]), "1,2");
  assert.equal(await left([400_000, 400_000, 1], [], 1), "0,1,2", "somebody waits for what is told of each");
});

/** Somebody looks at the whole of a workspace, whose folder is `w` below `base`; `root`: open, where it is there. */
function visitOf(base: string, given: Partial<Visit> = {}): Visit {
  const make = async () => ok(undefined);
  const at = { folder: join(base, "w"), keptFolder: join(base, "kept"), uid: undefined, make, used() {} };
  return {
    ...{ id: "w", kind: "conversation", owner: "local", name: "1", clock: systemClock, ids: systemIds },
    ...{ logger: quietLogger([]), limits: testLimits, stagingFolder: join(base, "staging"), books: openBooks() },
    ...{ at, place: async () => ok(at), path: ".", names: [], root: undefined, above: [], ...given },
  };
}
