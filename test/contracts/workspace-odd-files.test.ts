import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { filesBelow, type WalkEntry, type Workspace } from "../../src/workspace/workspace.ts";
import { countRounds } from "../world/event-loop.ts";
import { testWorkspace } from "../world/workspace.ts";

const isRoot = process.getuid?.() === 0;

test("pipes, sockets, devices, links and hard links are refused by every operation without hanging, listed as special and removed by clean-up [W5][W7]", async (t) => {
  const { workspace, folder, logged } = await testWorkspace(t);
  const outputs = join(folder, "outputs");
  execFileSync("mkfifo", [join(outputs, "pipe")]);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(join(outputs, "socket"), resolve));
  t.after(() => server.close());
  if (isRoot) execFileSync("mknod", [join(outputs, "device"), "c", "1", "5"]);
  symlinkSync("/etc/passwd", join(outputs, "link"));
  symlinkSync("nowhere", join(outputs, "dangling"));
  writeFileSync(join(folder, "..", "outside"), "outside");
  linkSync(join(folder, "..", "outside"), join(outputs, "hard"));
  const odd = { pipe: "special", socket: "special", link: "link", dangling: "link", hard: "hard_link" };
  for (const [name, why] of Object.entries(isRoot ? { ...odd, device: "special" } : odd)) {
    const path = `outputs/${name}`;
    const refused = {
      ok: false,
      failure: { code: "permission_denied", params: { path, folder: "", why }, retryable: false },
    };
    assert.deepEqual(await workspace.read(path), refused);
    assert.deepEqual(await workspace.stat(path), refused);
    assert.deepEqual(await workspace.stream(path), refused);
    assert.deepEqual(await workspace.hash(path), refused);
    // Taking a name away from a file that has others harms nobody.
    if (name !== "hard") assert.deepEqual(await workspace.write(path, "x"), refused);
    assert.equal((await workspace.list(path)).ok, false);
    assert.equal((await workspace.read(`${path}/below`)).ok, false);
  }
  const listed = await workspace.list("outputs");
  assert.ok(
    listed.ok && listed.value.entries.every(({ name, type }) => type === (name === "hard" ? "file" : "special")),
  );
  assert.ok(
    logged.some((line) => line.includes("refused") && line.includes("outputs/pipe")),
    "the operator is told",
  );
  const replaced = await workspace.write("outputs/hard", "own", { key: "k" });
  assert.deepEqual(replaced.ok && [replaced.value.before, replaced.value.lost], [
    { bytes: 7, mode: 0o644 },
    "unreadable",
  ]);
  assert.equal(readFileSync(join(folder, "..", "outside"), "utf8"), "outside");
  assert.deepEqual(await workspace.empty("outputs"), { ok: true, value: undefined });
  assert.deepEqual(readdirSync(outputs), []);
});

test("a tree of 5,000 folders inside each other is counted, walked as far as paths lead and removed, and a path into its depth is refused [W5][W8][W10]", async (t) => {
  const { workspace, folder } = await testWorkspace(t);
  makeDeep(join(folder, "outputs"), 5_000);
  const info = await workspace.info();
  assert.ok(info.ok);
  assert.deepEqual([info.value.dirCount, info.value.fileCount], [5_004, 1]);
  const deep = await workspace.read(`outputs/${"d/".repeat(100)}x`);
  assert.deepEqual(!deep.ok && [deep.failure.code, deep.failure.params], [
    "path_invalid",
    { path: `outputs/${"d/".repeat(96)}…`, why: "too_deep" },
  ]);
  for (const start of ["outputs", "outputs/d/d"]) {
    const walked: WalkEntry[] = [];
    const walk = await workspace.walk(start);
    for await (const entry of walk.ok ? walk.value : []) walked.push(entry);
    const { path, type, bytes, standsFor } = walked.pop() ?? assert.fail("there is something");
    const last = { path: `outputs/${"d/".repeat(63)}…`, type: "file", bytes: 1, standsFor: 1 };
    assert.deepEqual([{ path, type, bytes, standsFor }, walked.length], [last, start === "outputs" ? 63 : 61]);
    assert.deepEqual((await workspace.stat(path)).ok, false, "nobody can name it");
    assert.equal((await workspace.stat(walked.at(-1)?.path ?? "")).ok, true, "what has a path can be named");
  }
  const root = await workspace.openDescriptor();
  assert.ok(root.ok && root.value !== undefined);
  const scanned = [...filesBelow(root.value.fd, "outputs")].map(({ path, read }) => [path, read(1)]);
  root.value.close();
  assert.deepEqual(scanned, [[`outputs/${"d/".repeat(63)}…`, undefined]], "a search counts it among what it skipped");
  assert.deepEqual(await workspace.remove("outputs/d"), { ok: true, value: gone("outputs/d") });
  assert.deepEqual(await names(workspace, "outputs"), []);
});

test("however many empty folders and odd names there are, others have their turn all the time [W8][W10]", async (t) => {
  const { workspace, folder } = await testWorkspace(t);
  for (let index = 0; index < 8_000; index += 1) mkdirSync(join(folder, "temp", `d${index}`));
  for (let index = 0; index < 8_000; index += 1) writeFileSync(join(folder, "temp", `f${index}`), "");
  writeFileSync(Buffer.concat([Buffer.from(join(folder, "temp")), Buffer.from([0x2f, 0xff])]), "");
  using rounds = countRounds();
  const shared = async <T>(what: Promise<T>): Promise<T> => {
    rounds.taken();
    const done = await what;
    assert.ok(rounds.taken() > 16_000 / 20);
    return done;
  };
  const info = await shared(workspace.info());
  assert.deepEqual(info.ok && [info.value.dirCount, info.value.fileCount], [8_004, 8_001]);
  assert.equal((await workspace.read("outputs/none")).ok, false);
  const walk = await workspace.walk("temp");
  await shared(throughAll(walk.ok ? walk.value : []));
  await shared(workspace.list("temp"));
  assert.ok((await shared(workspace.write("temp/new", "x"))).ok);
  assert.ok((await shared(workspace.empty("temp"))).ok);
  assert.deepEqual(await names(workspace, "temp"), []);
});

test("a tree that branches at every level is walked in time that grows with its size, however deep [W8]", async (t) => {
  const { workspace, folder } = await testWorkspace(t);
  const script = `for (let i = 0; i < 1500; i += 1) { fs.mkdirSync("a"); fs.mkdirSync("z"); process.chdir("a"); }`;
  execFileSync(process.execPath, ["-e", script], { cwd: join(folder, "outputs") });
  const info = await workspace.info();
  assert.equal(info.ok && info.value.dirCount, 3_004);
  assert.ok((await workspace.empty("outputs")).ok);
});

test("names that are not UTF-8 are listed with a mark, counted, and removed with their folder [W5][W8]", async (t) => {
  const { workspace, folder, base } = await testWorkspace(t);
  const odd = Buffer.concat([Buffer.from(join(folder, "outputs", "caf")), Buffer.from([0xe9]), Buffer.from(".txt")]);
  writeFileSync(odd, "latin");
  const oddFolder = Buffer.concat([Buffer.from(join(folder, "outputs")), Buffer.from([0x2f, 0xff, 0xfe])]);
  mkdirSync(oddFolder);
  writeFileSync(Buffer.concat([oddFolder, Buffer.from("/inside")]), "12345");
  assert.deepEqual(await names(workspace, "outputs"), ["caf\uFFFD.txt", "\uFFFD\uFFFD"]);
  const info = await workspace.info();
  assert.deepEqual(info.ok && [info.value.fileCount, info.value.dirCount, info.value.totalSize], [2, 5, 10]);
  const read = await workspace.read("outputs/caf\uFFFD.txt");
  assert.equal(!read.ok && read.failure.code, "file_not_found");
  assert.ok((await workspace.empty("outputs")).ok);
  assert.deepEqual([readdirSync(join(folder, "outputs")), readdirSync(join(base, "staging"))], [[], []]);
});

test("a file of a terabyte without content is read as far as asked, and hardly costs anything [W5]", async (t) => {
  const { workspace, folder } = await testWorkspace(t);
  closeSync(openSync(join(folder, "outputs", "sparse"), "w"));
  truncateSync(join(folder, "outputs", "sparse"), 2 ** 40);
  const read = await workspace.read("outputs/sparse", { offset: 2 ** 39, bytesMax: 10 });
  assert.deepEqual(read.ok && [...read.value.bytes], Array(10).fill(0));
  const change = await workspace.write("outputs/sparse", "small", { key: "k" });
  assert.deepEqual(change.ok && [change.value.before, change.value.lost], [
    { bytes: 2 ** 40, mode: 0o644 },
    "too_large",
  ]);
});

test("on a full disk a write is refused, the old content stays, and nothing half-written is left [W11][W7]", {
  skip: isRoot ? false : "needs root to mount a small disk",
}, async (t) => {
  const base = await mkdtemp(join(tmpdir(), "agentyard-small-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", base]);
  t.after(async () => {
    execFileSync("umount", ["-l", base]);
    await rm(base, { recursive: true, force: true });
  });
  const { workspace } = await testWorkspace(t, { base });
  assert.ok((await workspace.write("outputs/a.txt", "old")).ok);
  const full = { code: "write_failed", params: { path: "outputs/a.txt", why: "full" }, retryable: false };
  assert.deepEqual(await workspace.write("outputs/a.txt", Buffer.alloc(2 ** 21)), { ok: false, failure: full });
  const read = await workspace.read("outputs/a.txt");
  assert.equal(read.ok && read.value.bytes.toString(), "old");
  assert.deepEqual(readdirSync(join(base, "staging")), []);
  assert.ok((await workspace.write("outputs/b.txt", "fits")).ok, "the next write works");
});

test("folders without permission answer with their code, and are removed all the same [W7][W10]", {
  skip: isRoot ? false : "needs root to become another user",
}, async (t) => {
  const base = await mkdtemp(join(tmpdir(), "agentyard-locked-"));
  t.after(() => rm(base, { recursive: true, force: true }));
  chmodSync(base, 0o777);
  // Root may do everything, so the operations run as nobody, in a process of their own.
  const script = join(import.meta.dirname, "../world/locked-folders.ts");
  const done = spawnSync(process.execPath, [script, base], { encoding: "utf8" });
  assert.deepEqual(done.stderr === "" ? JSON.parse(done.stdout) : done.stderr, {
    read: "permission_denied system",
    write: "permission_denied system",
    list: "ok 0",
    info: "ok 1",
    remove: "ok",
    left: [],
  });
});

/** One long chain of folders with a file at its end: no path of that length exists, so it is made from inside. */
function makeDeep(folder: string, depth: number): void {
  const script = `for (let i = 0; i < ${depth}; i += 1) { fs.mkdirSync("d"); process.chdir("d"); } fs.writeFileSync("x", "x");`;
  execFileSync(process.execPath, ["-e", script], { cwd: folder });
}

function gone(path: string) {
  return { path, before: undefined, after: undefined, lost: undefined };
}

async function names(workspace: Workspace, path: string): Promise<string[]> {
  const listed = await workspace.list(path);
  return listed.ok ? listed.value.entries.map(({ name }) => name) : [];
}

async function throughAll(entries: AsyncIterable<unknown> | Iterable<unknown>): Promise<void> {
  for await (const _ of entries);
}
