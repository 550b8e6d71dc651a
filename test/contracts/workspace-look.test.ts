import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { linkSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Observation, WalkEntry } from "../../src/workspace/workspace.ts";
import { observeInLittleMemory } from "../world/look-in-little-memory.ts";
import { openFiles } from "../world/open-files.ts";
import { testWorkspace } from "../world/workspace.ts";
import { unwrap } from "./storage-place.ts";

const never = new AbortController().signal;

test("who looks for changes knows what the files take up, before and after, as a count of its own says it [W12][X4]", async (t) => {
  const { workspace, again, folder } = await testWorkspace(t);
  writeFileSync(join(folder, ".metadata.json"), "{}");
  symlinkSync("/nowhere", join(folder, "skills", "placed-by-us"));
  writeFileSync(join(folder, "outputs", "a"), Buffer.alloc(50_000, 1));
  const counted = async () => withoutFree(unwrap(await again().measure()));
  const observation = unwrap(await workspace.observe());
  assert.deepEqual(withoutFree(observation.measured()), await counted());
  linkSync(join(folder, "outputs", "a"), join(folder, "outputs", "same"));
  mkdirSync(join(folder, "temp", "deep", "er"), { recursive: true });
  writeFileSync(join(folder, "temp", "deep", "er", "b"), Buffer.alloc(9_000, 1));
  unwrap(await observation.changes());
  assert.deepEqual(withoutFree(observation.measured()), await counted());
  assert.deepEqual([observation.measured()?.files, observation.measured()?.folders], [5, 6]);
});

test("an old count will do for whoever says so, until it is over a limit; what is free on the disk is asked anew [X4]", async (t) => {
  const { workspace, folder } = await testWorkspace(t, { limits: { filesMax: 4 } });
  const files = async (mayBeOld: boolean) => {
    const { files: found, over } = unwrap(await workspace.measure({ mayBeOld }));
    return [found, over];
  };
  const put = (name: string) => writeFileSync(join(folder, "temp", name), "");
  assert.deepEqual(await files(true), [0, undefined], "without one there is a new one");
  for (const name of ["a", "b", "c", "d", "e"]) put(name);
  assert.deepEqual(await files(true), [0, undefined]);
  assert.deepEqual(await files(false), [5, "files"]);
  put("f");
  assert.deepEqual(await files(true), [6, "files"], "who is refused must know that it still is so");
});

test("what goes on after an answer is told to who continues, once, and to nobody else [W12]", async (t) => {
  const { workspace, again, folder } = await testWorkspace(t);
  const put = (name: string, content: string) => writeFileSync(join(folder, "outputs", name), content);
  put("a", "0");
  const first = unwrap(await workspace.observe({ isContinued: true }));
  assert.deepEqual([first.hasEarlier, await told(first)], [false, []], "what was there at the first look is not new");
  put("a", "1");
  const second = unwrap(await again().observe({ isContinued: true }));
  put("a", "2");
  assert.deepEqual(
    [second.hasEarlier, await told(second)],
    [true, [["outputs/a", sha("0"), sha("2")]]],
    "as one change, whoever made it",
  );
  put("a", "3");
  const left = unwrap(await again().observe({ isContinued: true }));
  left.leave();
  const third = unwrap(await again().observe({ isContinued: true }));
  assert.deepEqual([third.hasEarlier, await told(third)], [true, [["outputs/a", sha("2"), sha("3")]]]);
  put("a", "4");
  const other = unwrap(await again().observe());
  assert.deepEqual([other.hasEarlier, await told(other)], [false, []]);
});

test("a look ahead keeps what is there, and the next who observes is told what programs did since it began [W12]", async (t) => {
  const { workspace, again, folder, base } = await testWorkspace(t);
  const kept = () => readdirSync(join(base, "kept", "contents")).toSorted();
  const put = (name: string, content: string | Buffer) => writeFileSync(join(folder, "outputs", name), content);
  put("a", "before");
  put("large", Buffer.alloc(300_000, 1));
  unwrap(await workspace.lookAhead({ signal: never }));
  assert.deepEqual(kept(), [sha("before"), sha(Buffer.alloc(300_000, 1))].toSorted());
  put("b", "by others, in between");
  const observation = unwrap(await again().observe());
  put("a", "after");
  put("b", "by a program");
  assert.deepEqual(await told(observation), [
    ["outputs/a", sha("before"), sha("after")],
    ["outputs/b", sha("by others, in between"), sha("by a program")],
  ]);
  put("c", "not looked at");
  unwrap(await workspace.lookAhead({ signal: never }));
  assert.equal(kept().includes(sha("not looked at")), false, "there was a look: a second one ahead is none");
});

test("a look ahead that is broken off leaves the next one all there is to tell [W12]", async (t) => {
  const { workspace, again, folder } = await testWorkspace(t);
  for (const name of ["a", "b", "c"]) writeFileSync(join(folder, "outputs", name), name);
  const stop = new AbortController();
  const sharedFiles = async () => {
    stop.abort();
    return new Set<number>();
  };
  unwrap(await workspace.lookAhead({ sharedFiles, signal: stop.signal }));
  const observation = unwrap(await again().observe({ isContinued: true }));
  assert.deepEqual([observation.hasEarlier, await told(observation)], [false, []]);
  writeFileSync(join(folder, "outputs", "b"), "changed");
  assert.deepEqual(await told(observation), [["outputs/b", sha("b"), sha("changed")]]);
});

test("however deep programs nest folders and however long they name them, a look needs little memory and says what it cannot watch [W12][X4][Q1]", async (t) => {
  const { workspace, folder, base } = await testWorkspace(t);
  t.after(() => workspace.empty("temp"));
  const little = await observeInLittleMemory(base);
  t.after(() => little.close());
  const [depth, long] = [4_000, "d".repeat(255)];
  inDeep(join(folder, "temp"), { depth, does: 'fs.mkdirSync(name); process.chdir(name); fs.writeFileSync("f", "1");' });
  const above = (names: number) => `temp/${`${long}/`.repeat(names)}`;
  const named = Array.from({ length: 15 }, (_, index) => `${above(index + 1)}f`);
  const first = await little.changes();
  assert.deepEqual(
    first.changes.map(({ path, before, after, lost }) => [path, before, after?.bytes, lost]),
    [...named.map((path) => [path, undefined, 1, undefined]), [`${above(16)}…`, undefined, depth - 15, undefined]].sort(
      ([a], [b]) => (String(a) < String(b) ? -1 : 1),
    ),
  );
  assert.deepEqual([first.measured?.files, first.measured?.folders], [depth, depth + 4], "a quota counts all of it");
  assert.deepEqual([first.info.fileCount, first.info.dirCount, first.info.totalSize], [depth, depth + 4, depth]);
  assert.deepEqual(first.walked, { folders: 4 + 16, files: depth, longest: above(16).length + 1 });
  inDeep(join(folder, "temp"), { depth, does: "process.chdir(name);", ends: 'fs.writeFileSync("f", "longer");' });
  const second = await little.changes();
  assert.deepEqual(
    second.changes.map(({ path, before, after, lost }) => [path, before?.bytes, after?.bytes, lost]),
    [[`${above(16)}…`, depth - 15, depth - 15 + 5, "unreadable"]],
    "that something has changed there is told, and that it cannot be undone",
  );
  assert.ok((await workspace.empty("temp")).ok);
  assert.deepEqual((await little.changes()).changes.length, named.length + 1);
});

test("of many files with very long paths so many are watched as there is memory for, and the others are counted [W12][X4]", async (t) => {
  const { workspace, folder, base } = await testWorkspace(t);
  t.after(() => workspace.empty("temp"));
  const little = await observeInLittleMemory(base);
  t.after(() => little.close());
  const files = 20_000;
  const below = join(folder, "temp", ...Array.from({ length: 14 }, () => "d".repeat(255)));
  mkdirSync(below, { recursive: true });
  for (let index = 0; index < files; index += 1) writeFileSync(join(below, `${index}`), "");
  const { changes, measured, walked, logged } = await little.changes();
  const pathBytes = "temp/".length + 14 * 256 + "12345".length;
  assert.ok(Math.abs(changes.length - (32 * 1024 ** 2) / pathBytes) < 10, `${changes.length} are watched`);
  assert.deepEqual([measured?.files, walked.files], [files, files]);
  assert.ok(logged.some((line) => line.includes("too many to watch") && line.includes(`${files - changes.length}`)));
});

test("a walk through files leaves nothing open, whether it is gone through, left, or finds nothing any more [W8]", async (t) => {
  const { workspace, folder, base } = await testWorkspace(t);
  for (const name of ["a", "b", "c"]) writeFileSync(join(folder, "outputs", name), name);
  const walk = async () => unwrap(await workspace.walk("outputs"));
  const open = () => openFiles().filter((path) => path.startsWith(base));
  const late = await walk();
  assert.deepEqual([await pathsOf(await walk()), open()], [["outputs/a", "outputs/b", "outputs/c"], []]);
  for await (const _ of await walk()) break;
  assert.deepEqual(open(), [], "left at the first file");
  rmSync(join(folder, "outputs"), { recursive: true });
  assert.deepEqual([await pathsOf(late), open()], [[], []]);
});

/** In a process of its own, as the way into such a folder is longer than the system takes at once. */
function inDeep(folder: string, { depth, does, ends = "" }: { depth: number; does: string; ends?: string }): void {
  const script = `const name = "d".repeat(255); for (let i = 0; i < ${depth}; i += 1) { ${does} } ${ends}`;
  execFileSync(process.execPath, ["-e", script], { cwd: folder });
}

async function pathsOf(entries: AsyncIterable<WalkEntry>): Promise<string[]> {
  const paths: string[] = [];
  for await (const { path } of entries) paths.push(path);
  return paths.sort();
}

function withoutFree(measured: ReturnType<Observation["measured"]>) {
  assert.ok(measured);
  const { freeBytes: _, ...rest } = measured;
  return rest;
}

async function told(observation: Observation) {
  return unwrap(await observation.changes()).map(({ path, before, after }) => [path, before?.hash, after?.hash]);
}

function sha(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
