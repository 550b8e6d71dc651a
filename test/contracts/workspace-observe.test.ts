import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { FileChange, Observation } from "../../src/workspace/workspace.ts";
import { countRounds } from "../world/event-loop.ts";
import { testWorkspace } from "../world/workspace.ts";
import { unwrap } from "./storage-place.ts";

const isRoot = process.getuid?.() === 0;

test("what people and tools change through the workspace is not told as done by a program [W12]", async (t) => {
  const { workspace, again, folder } = await testWorkspace(t);
  writeFileSync(join(folder, "outputs", "old.txt"), "old");
  mkdirSync(join(folder, "outputs", "d"));
  writeFileSync(join(folder, "outputs", "d", "x"), "x");
  writeFileSync(join(folder, "temp", "t"), "t");
  const observation = unwrap(await workspace.observe());
  const old = unwrap(await again().write("outputs/old.txt", "new", { key: "k" }));
  unwrap(await again().write("outputs/deep/er/new.txt", "new"));
  unwrap(await again().write("uploads/large.bin", Buffer.alloc(300_000)));
  unwrap(await again().remove("outputs/d"));
  unwrap(await again().empty("temp"));
  assert.deepEqual(await changesOf(observation), []);
  unwrap(await workspace.restore("outputs/old.txt", old.before));
  unwrap(await workspace.remove("outputs/deep/er/new.txt"));
  assert.deepEqual(await changesOf(observation), []);
  unwrap(await again().write("outputs/both.txt", "from us"));
  writeFileSync(join(folder, "outputs", "both.txt"), "by prog");
  assert.deepEqual(
    (await changesOf(observation)).map(({ path, before, after }) => [path, before?.hash, after?.hash]),
    [["outputs/both.txt", sha("from us"), sha("by prog")]],
  );
});

test("two who observe at once are told each change once, and what happened before is told to nobody [W12]", async (t) => {
  const { workspace, again, folder } = await testWorkspace(t);
  const put = (name: string, content: string) => writeFileSync(join(folder, "outputs", name), content);
  put("a", "0");
  const one = unwrap(await workspace.observe());
  put("a", "1");
  const two = unwrap(await again().observe());
  put("a", "2");
  put("b", "1");
  const [toOne, toTwo] = await Promise.all([changesOf(one), changesOf(two)]);
  assert.deepEqual(
    [...toOne, ...toTwo].map(({ path, before, after }) => [path, before?.hash, after?.hash]),
    [
      ["outputs/a", sha("0"), sha("2")],
      ["outputs/b", undefined, sha("1")],
    ],
  );
  put("b", "edited by a person between two programs");
  const three = unwrap(await workspace.observe());
  assert.deepEqual(await changesOf(three), []);
});

test("a program that keeps size and times of what it rewrites is found out [W12]", async (t) => {
  const { workspace, folder } = await testWorkspace(t);
  const path = join(folder, "outputs", "a.txt");
  const past = new Date("2001-01-01T00:00:00Z");
  const put = (content: string) => {
    writeFileSync(path, content);
    utimesSync(path, past, past);
  };
  put("aaaa");
  const observation = unwrap(await workspace.observe());
  // As fast as it goes: several of these fall into one tick of the disk's clock.
  for (let round = 0; round < 50; round += 1) {
    const [from, to] = [round % 2 === 0 ? "aaaa" : "bbbb", round % 2 === 0 ? "bbbb" : "aaaa"];
    put(to);
    const mode = 0o644;
    assert.deepEqual(await changesOf(observation), [
      {
        path: "outputs/a.txt",
        before: { hash: sha(from), bytes: 4, mode },
        after: { hash: sha(to), bytes: 4, mode },
        lost: undefined,
      },
    ]);
  }
  assert.deepEqual(statSync(path).mtime, past);
});

test("files above the limit are known by their size, at the limit they are kept, and a full store says so [W12]", async (t) => {
  const limits = { keptFileBytesMax: 1_000, keptBytesMax: 2_500 };
  const { workspace, folder } = await testWorkspace(t, { limits });
  const put = putterIn(folder);
  put("at", 1_000, "a");
  put("over", 1_001, "a");
  const observation = unwrap(await workspace.observe());
  put("at", 10, "b");
  put("over", 1_001, "b");
  put("new-over", 2_000, "b");
  const lost = async () => (await changesOf(observation)).map(({ path, before, lost }) => [path, before?.bytes, lost]);
  assert.deepEqual(await lost(), [
    ["outputs/at", 1_000, undefined],
    ["outputs/new-over", undefined, undefined],
    ["outputs/over", 1_001, "too_large"],
  ]);
  for (const name of ["w", "x", "y", "z"]) put(name, 800, name);
  await lost();
  for (const name of ["w", "x", "y", "z"]) put(name, 1, "-");
  const full = await lost();
  assert.deepEqual(
    full.map(([path]) => path),
    ["outputs/w", "outputs/x", "outputs/y", "outputs/z"],
  );
  assert.deepEqual(full.map(([, , why]) => why ?? "kept").sort(), ["kept", "kept", "kept", "quota"]);
});

test("hidden files are watched; folders, links, pipes and our own notes are not, and odd names are told as they are [W12]", async (t) => {
  const { workspace, folder } = await testWorkspace(t);
  const outputs = join(folder, "outputs");
  writeFileSync(join(folder, ".metadata.json"), "{}");
  const observation = unwrap(await workspace.observe());
  mkdirSync(join(outputs, ".git", "objects"), { recursive: true });
  writeFileSync(join(outputs, ".git", "objects", "aa"), "blob");
  writeFileSync(join(outputs, ".env"), "A=1");
  writeFileSync(join(folder, ".metadata.json"), "{ }");
  writeFileSync(join(folder, "skills", "placed-by-us"), "");
  symlinkSync("/nowhere", join(outputs, "link"));
  spawnSync("mkfifo", [join(outputs, "pipe")]);
  writeFileSync(join(outputs, "two\nlines"), "");
  writeFileSync(Buffer.concat([Buffer.from(`${outputs}/caf`), Buffer.from([0xe9])]), "latin");
  assert.deepEqual(
    (await changesOf(observation)).map(({ path }) => path),
    ["outputs/.env", "outputs/.git/objects/aa", "outputs/caf\\xe9", "outputs/two\nlines"],
  );
  linkSync(join(outputs, ".env"), join(outputs, "second-name"));
  unlinkSync(Buffer.concat([Buffer.from(`${outputs}/caf`), Buffer.from([0xe9])]));
  rmSync(join(outputs, "two\nlines"));
  const [mode, bytes] = [0o644, 3];
  assert.deepEqual(await changesOf(observation), [
    { path: "outputs/.env", before: { hash: sha("A=1"), bytes, mode }, after: { bytes, mode }, lost: undefined },
    { path: "outputs/caf\\xe9", before: { bytes: 5, mode }, after: undefined, lost: "unreadable" },
    { path: "outputs/second-name", before: undefined, after: { bytes, mode }, lost: undefined },
    { path: "outputs/two\nlines", before: { bytes: 0, mode }, after: undefined, lost: "unreadable" },
  ]);
});

test("while many files are looked at, others have their turn all the time [W12]", async (t) => {
  const many = 2_000;
  const { workspace, folder } = await testWorkspace(t);
  for (let index = 0; index < many; index += 1) {
    const place = join(folder, "outputs", `d${index % 100}`);
    if (index < 100) mkdirSync(place);
    writeFileSync(join(place, `f${index}`), `content of ${index}`);
  }
  using rounds = countRounds();
  /** Even of the cheapest look: one for every so many files. */
  const roundsMin = many / 20;
  const observation = unwrap(await workspace.observe());
  for (let index = 0; index < 100; index += 1) writeFileSync(join(folder, "outputs", `d${index}`, "new"), "new");
  assert.ok(rounds.taken() > roundsMin);
  assert.equal((await changesOf(observation)).length, 100);
  assert.ok(rounds.taken() > roundsMin);
  for (let index = 0; index < 100; index += 1) renameSync(place(folder, `d${index}`), place(folder, `e${index}`));
  assert.equal((await changesOf(observation)).length, 2 * (many + 100));
  assert.ok(rounds.taken() > roundsMin);
  const { files } = unwrap(await workspace.measure());
  assert.equal(files, many + 100);
  assert.ok(rounds.taken() > roundsMin);
});

test("what another user may not read is told as not to be given back, and is not taken for removed [W12]", {
  skip: isRoot ? false : "needs root to become another user",
}, async (t) => {
  const base = await mkdtemp(join(tmpdir(), "agentyard-locked-"));
  t.after(() => rm(base, { recursive: true, force: true }));
  chmodSync(base, 0o777);
  const script = join(import.meta.dirname, "../world/locked-observe.ts");
  const done = spawnSync(process.execPath, [script, base], { encoding: "utf8" });
  assert.deepEqual(done.stderr === "" ? JSON.parse(done.stdout) : done.stderr, {
    locked: [
      { path: "outputs/own.txt", before: { hash: sha("mine"), bytes: 4, mode: 0o644 }, after: { bytes: 4, mode: 0 } },
    ],
    opened: [
      {
        path: "outputs/own.txt",
        before: { bytes: 4, mode: 0 },
        after: { hash: sha("mine"), bytes: 4, mode: 0o600 },
        lost: "unreadable",
      },
    ],
    removed: [{ path: "outputs/locked/f.txt", before: { hash: sha("hidden"), bytes: 6, mode: 0o644 } }],
  });
});

async function changesOf(observation: Observation): Promise<FileChange[]> {
  return [...unwrap(await observation.changes())];
}

function sha(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

function place(folder: string, name: string): string {
  return join(folder, "outputs", name);
}

function putterIn(folder: string) {
  return (name: string, bytes: number, fill: string) =>
    writeFileSync(join(folder, "outputs", name), Buffer.alloc(bytes, fill));
}

const never = new AbortController().signal;

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

async function told(observation: Observation) {
  return unwrap(await observation.changes()).map(({ path, before, after }) => [path, before?.hash, after?.hash]);
}
