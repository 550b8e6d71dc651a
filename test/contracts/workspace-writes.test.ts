import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { failure } from "../../src/protocol/failure.ts";
import type { FileFailure, Workspace } from "../../src/workspace/workspace.ts";
import { until } from "../world/events.ts";
import { testWorkspace } from "../world/workspace.ts";

/** 100 in `npm run torture`. */
const kills = Number(process.env.AGENTYARD_WRITE_KILLS ?? 3);

test("20 writers of the same file at once leave one writer's whole content, and a reader never sees a mix [W11]", async (t) => {
  const { again } = await testWorkspace(t);
  const letters = [..."ABCDEFGHIJKLMNOPQRST"];
  const writes = letters.map((letter) => again().write("outputs/same.txt", letter.repeat(200_000), { key: letter }));
  const seen = new Set<string>();
  let isDone = false;
  const reading = (async () => {
    while (!isDone) {
      const read = await again().read("outputs/same.txt");
      await new Promise((resolve) => setImmediate(resolve));
      if (read.ok) seen.add(read.value.bytes.toString().replace(/^(.)\1*$/s, "$1"));
    }
  })();
  assert.ok((await Promise.all(writes)).every(({ ok }) => ok));
  isDone = true;
  await reading;
  assert.deepEqual(
    [...seen].filter((content) => !letters.includes(content)),
    [],
  );
  const last = await again().read("outputs/same.txt");
  assert.equal(last.ok && last.value.bytes.length, 200_000);
});

test("a process that is killed in the middle of a write leaves the old or the new content [W11]", async (t) => {
  const base = await mkdtemp(join(tmpdir(), "agentyard-killed-"));
  t.after(() => rm(base, { recursive: true, force: true }));
  const writer = join(import.meta.dirname, "../world/killed-writer.ts");
  for (let kill = 0; kill < kills; kill += 1) {
    // From before the first piece to after the last, whatever their number.
    const pieces = Math.floor((kill * 10) / (kills - 1));
    const child = spawn(process.execPath, [writer, base, String(pieces)], { stdio: ["ignore", "ignore", "inherit"] });
    const [, signal] = await once(child, "close");
    assert.equal(signal, "SIGKILL");
    const content = readFileSync(join(base, "workspace", "w1", "outputs", "f"), "utf8");
    assert.deepEqual(
      [content.length, new Set(content)],
      [300_000, new Set(pieces < 10 ? "A" : "B")],
      `${pieces} pieces`,
    );
  }
});

test("the quota of bytes and of files holds at the limit, sees what others wrote, and never stops making room [W11][W7]", async (t) => {
  const { workspace, folder } = await testWorkspace(t, { limits: { bytesMax: 100, filesMax: 3 } });
  assert.ok((await workspace.write("outputs/a", "x".repeat(100))).ok, "exactly at the limit");
  assert.deepEqual(await reason(workspace.write("outputs/b", "x")), {
    code: "quota_exceeded",
    params: { path: "outputs/b", what: "bytes", limit: 100, setting: "workspace.bytes_max" },
    retryable: false,
  });
  assert.ok((await workspace.write("outputs/a", "x".repeat(50))).ok);
  assert.ok((await workspace.write("outputs/b", "x".repeat(50))).ok);
  writeFileSync(join(folder, "temp", "from-outside"), "y".repeat(40));
  assert.ok((await workspace.write("outputs/a", "x".repeat(30))).ok, "smaller is always allowed");
  assert.equal((await reason(workspace.write("outputs/a", "x".repeat(31))))?.code, "quota_exceeded", "counted anew");
  assert.ok((await workspace.write("outputs/a", "x".repeat(5))).ok);
  assert.equal((await reason(workspace.write("outputs/c", "")))?.params.what, "files");
  rmSync(join(folder, "temp", "from-outside"));
  assert.ok((await workspace.write("outputs/c", "")).ok, "room made by others is seen");
  assert.ok((await workspace.remove("outputs/c")).ok);
  assert.ok((await workspace.write("outputs/d", "")).ok);
});

test("the quotas hold for 40 writers at once, and room that a failed write had set aside is free again [W11]", async (t) => {
  const { again } = await testWorkspace(t, { limits: { bytesMax: 1_000, filesMax: 8 } });
  const many = (size: number) =>
    Promise.all(Array.from({ length: 40 }, (_, index) => again().write(`outputs/${size}-${index}`, "x".repeat(size))));
  const large = await many(300);
  assert.equal(large.filter(({ ok }) => ok).length, 3, "1,000 bytes have room for three");
  const small = await many(1);
  assert.equal(small.filter(({ ok }) => ok).length, 5, "and eight files are the limit");
  const info = await again().info();
  assert.deepEqual(info.ok && [info.value.fileCount, info.value.totalSize], [8, 905]);
});

test("a change that is stopped before it begins is not made; one that has begun is [W11][L7]", async (t) => {
  const { workspace } = await testWorkspace(t);
  await workspace.write("outputs/a", "old");
  const stop = new AbortController();
  stop.abort();
  for (const key of [undefined, "call"]) {
    const stopped = await reason(workspace.write("outputs/a", "new", { key, signal: stop.signal }));
    assert.deepEqual(stopped?.params, { path: "outputs/a", why: "broken_off" });
    assert.equal((await reason(workspace.remove("outputs/a", { key, signal: stop.signal })))?.code, "write_failed");
  }
  assert.equal(await text(workspace, "outputs/a"), "old");
  await workspace.write("outputs/below/b", "old");
  const stopped = await reason(workspace.remove("outputs/below", { signal: stop.signal }));
  assert.deepEqual(stopped?.params, { path: "outputs/below", why: "broken_off" });
  assert.equal(await text(workspace, "outputs/below/b"), "old", "a folder goes with all that is in it, or not at all");
  let begun = 0;
  assert.ok((await workspace.remove("outputs/below", { onStart: () => (begun += 1) })).ok);
  assert.equal(begun, 1);
  const late = new AbortController();
  assert.ok((await workspace.write("outputs/a", "new", { signal: late.signal, onStart: () => late.abort() })).ok);
  assert.equal(await text(workspace, "outputs/a"), "new");
});

test("a write is not answered before its name is on the disk as well: a power cut would take it away again [W11][Q2]", async (t) => {
  const { workspace, base, folder } = await testWorkspace(t);
  const told: string[] = [];
  const held: { release?: () => Promise<void> } = {};
  const onStart = () => {
    held.release = holdDisk(join(base, "pipe"));
  };
  const writing = workspace
    .write("outputs/a", "new", { onStart })
    .then(({ ok }) => told.push(ok ? "written" : "failed"));
  await until("it has its name", () => existsSync(join(folder, "outputs", "a")));
  await new Promise((resolve) => setImmediate(resolve));
  told.push("the disk is done");
  await held.release?.();
  await writing;
  assert.deepEqual(told, ["the disk is done", "written"]);
});

test("giving a file back is refused when somebody else has changed it meanwhile [W12]", async (t) => {
  const { workspace } = await testWorkspace(t);
  await workspace.write("outputs/a", "one");
  const change = await workspace.write("outputs/a", "two", { key: "call" });
  assert.ok(change.ok && change.value.after?.hash !== undefined);
  const { before, after } = change.value;
  await workspace.write("outputs/a", "of somebody else");
  assert.equal((await reason(workspace.restore("outputs/a", before, { expected: after.hash })))?.code, "conflict");
  assert.equal((await reason(workspace.restore("outputs/a", undefined, { expected: after.hash })))?.code, "conflict");
  assert.equal(await text(workspace, "outputs/a"), "of somebody else");
});

test("a write that expects other content than is there is a conflict, and changes nothing [W11][F2]", async (t) => {
  const { workspace } = await testWorkspace(t);
  const first = await workspace.write("outputs/a", "one", { expected: null });
  const { hash } = (first.ok && first.value.after) || {};
  assert.equal((await reason(workspace.write("outputs/a", "two", { expected: null })))?.code, "conflict");
  assert.equal((await reason(workspace.write("outputs/a", "two", { expected: "0".repeat(64) })))?.code, "conflict");
  assert.equal((await reason(workspace.write("outputs/none", "two", { expected: hash })))?.code, "conflict");
  assert.ok((await workspace.write("outputs/a", "two", { expected: hash })).ok);
  assert.equal(await text(workspace, "outputs/a"), "two");
});

test("the same call made again after a crash finds what it did, not what it would overwrite [W11][W12][L2]", async (t) => {
  const { workspace, again } = await testWorkspace(t);
  await workspace.write("outputs/a", "before", { mode: 0o600 });
  const first = await workspace.write("outputs/a", "after", { key: "call 1" });
  assert.deepEqual(await again().write("outputs/a", "after", { key: "call 1" }), first);
  assert.ok(first.ok && first.value.before !== undefined && first.value.after?.mode === 0o600);
  const removed = await workspace.remove("outputs/a", { key: "call 2" });
  assert.deepEqual(await again().remove("outputs/a", { key: "call 2" }), removed);
  assert.deepEqual(removed.ok && removed.value.before, first.value.after);
});

test("earlier contents come back with their bytes and modes; the quota drops the oldest and says which cannot be kept [W12]", async (t) => {
  const limits = { keptFileBytesMax: 50, keptBytesMax: 100 };
  const { workspace, folder, base } = await testWorkspace(t, { limits });
  const states = [];
  for (const [index, size] of [10, 40, 45, 50, 51, 5].entries()) {
    const mode = 0o600 + index;
    const change = await workspace.write("outputs/a", `${index}`.repeat(size), { key: `call ${index}`, mode });
    states.push(change.ok ? change.value : undefined);
  }
  assert.deepEqual(
    states.map((change) => change?.lost),
    [undefined, undefined, undefined, undefined, undefined, "too_large"],
  );
  const kept = readdirSync(join(base, "kept", "contents")).map(
    (name) => statSync(join(base, "kept", "contents", name)).size,
  );
  assert.deepEqual(kept.sort(), [45, 50], "the two newest that fit");
  assert.deepEqual((await reason(workspace.restore("outputs/a", states[1]?.before)))?.code, "read_failed");
  assert.deepEqual((await reason(workspace.restore("outputs/a", states[5]?.before)))?.code, "read_failed");
  assert.equal(await text(workspace, "outputs/a"), "55555", "unchanged where it could not be given back");
  const back = await workspace.restore("outputs/a", states[4]?.before);
  assert.ok(back.ok);
  assert.equal(await text(workspace, "outputs/a"), "3".repeat(50));
  assert.equal(statSync(join(folder, "outputs", "a")).mode & 0o777, 0o603);
});

test("notes about calls are dropped when there are many; the newest stay [W12]", async (t) => {
  const { workspace, base } = await testWorkspace(t);
  const write = (call: number) => workspace.write("outputs/a", `${call}`, { key: `call ${call}` });
  await write(1);
  const notes = join(base, "kept", "notes");
  const [first = ""] = readdirSync(notes);
  for (let call = 0; call < 398; call += 1) {
    copyFileSync(join(notes, first), join(notes, `${call}`));
    utimesSync(join(notes, `${call}`), 1, 1);
  }
  const last = await write(22);
  assert.ok(readdirSync(notes).length < 400);
  assert.deepEqual(await write(22), last, "the last call is still known");
});

async function reason(answer: Promise<{ ok: boolean; failure?: FileFailure }>) {
  const { failure } = await answer;
  return failure as { code: string; params: Record<string, unknown>; retryable: boolean } | undefined;
}

async function text(workspace: Workspace, path: string): Promise<string | undefined> {
  const read = await workspace.read(path);
  return read.ok ? read.value.bytes.toString() : undefined;
}

/** What this process asks of the disk from now on, and does not stand still for, has no answer until this is called. */
function holdDisk(pipe: string): () => Promise<void> {
  execFileSync("mkfifo", [pipe]);
  // Each takes one of the threads that files are worked on with, until somebody opens the other end.
  const waiting = Array.from({ length: 4 * Math.max(availableParallelism(), 4) }, () => open(pipe));
  return async () => {
    const other = openSync(pipe, "r+");
    for (const end of await Promise.all(waiting)) await end.close();
    closeSync(other);
  };
}

test("a write that was noted and did not come to be is made when it is repeated, also where the old content is as long [W11][L2]", async (t) => {
  const { workspace, folder } = await testWorkspace(t);
  const place = join(folder, "outputs", "a.txt");
  const write = (content: string, key: string) => workspace.write("outputs/a.txt", content, { key });
  await write("price 10", "first");
  await write("price 12", "second");
  writeFileSync(place, "price 10"); // As a kill behind the note and before the move leaves it.
  assert.equal((await write("price 12", "second")).ok, true);
  assert.equal(readFileSync(place, "utf8"), "price 12");
});

test("a transfer that says nothing more is given up when it is stopped, and leaves nothing behind [W11][L6]", async (t) => {
  const { workspace, base, folder } = await testWorkspace(t);
  const stop = new AbortController();
  const silent = (async function* () {
    yield Buffer.from("half");
    await new Promise<void>(() => queueMicrotask(() => stop.abort("cancel")));
  })();
  const writes = [silent, endless()].map((data, n) =>
    workspace.write(`outputs/${n}.txt`, data, { signal: stop.signal }),
  );
  assert.deepEqual(
    await Promise.all(writes),
    [0, 1].map((n) => failure("write_failed", { path: `outputs/${n}.txt`, why: "broken_off" })),
  );
  assert.deepEqual([readdirSync(join(folder, "outputs")), readdirSync(join(base, "staging"))], [[], []]);
});

async function* endless() {
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve));
    yield Buffer.from("more");
  }
}
