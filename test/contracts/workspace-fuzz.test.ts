import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { ConversationId } from "../../src/protocol/ids.ts";
import { filesBelow, type WalkEntry, type Workspace } from "../../src/workspace/workspace.ts";
import { hostilePath, marker } from "../world/hostile-paths.ts";
import { testWorkspace } from "../world/workspace.ts";
import { type Ground, openGround } from "./workspaces-place.ts";

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

test("a tree of very deep folders is counted, walked as far as paths lead and removed, and a path into its depth is refused [W5][W8][W10]", async (t) => {
  const depth = 1_200;
  const { workspace, folder } = await testWorkspace(t);
  makeDeep(join(folder, "outputs"), depth);
  const info = await workspace.info();
  assert.ok(info.ok);
  assert.deepEqual([info.value.dirCount, info.value.fileCount], [depth + 4, 1]);
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

test("folders without permission answer with their code and are removed all the same; a clean-up leaves what it cannot look at whole [W7][W10]", {
  skip: isRoot ? false : "needs root to become another user",
}, async (t) => {
  const base = await mkdtemp(join(tmpdir(), "agentyard-locked-"));
  t.after(() => rm(base, { recursive: true, force: true }));
  chmodSync(base, 0o777);
  // Root may do everything, so the operations run as nobody, in a process of their own.
  const script = join(import.meta.dirname, "../world/locked-folders.ts");
  const done = spawnSync(process.execPath, [script, base], { encoding: "utf8", env: { ...process.env, TMPDIR: base } });
  assert.deepEqual(done.stderr === "" ? JSON.parse(done.stdout) : done.stderr, {
    read: "permission_denied system",
    write: "permission_denied system",
    list: "ok 0",
    info: "ok 1",
    remove: "ok",
    left: [],
    clean: { workspaces: 0, bytes: 0, skipped: 1 },
    stays: ["seen", "unseen"],
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

/** 100,000 in `npm run torture`. */
const pathCount = Number(process.env.AGENTYARD_FUZZ_PATHS ?? 240);
const seed = Number(process.env.AGENTYARD_FUZZ_SEED ?? 20_261_115);
const secret = "the secret outside";

test("no generated path makes any operation touch or tell anything outside of the workspace [W5][S5][Q1]", async (t) => {
  for (const kind of ["conversation", "task"] as const) {
    const { workspace, folder, base } = await testWorkspace(t, { kind, limits: { keptBytesMax: 1_000 } });
    plant(base);
    const before = everythingBut(base, [folder, join(base, "staging"), join(base, "kept")]);
    const codes = new Map<string, number>();
    for (const [index, path] of fc.sample(hostilePath(), { numRuns: pathCount / 2, seed }).entries()) {
      if (index % 100 === 0) plantInside(folder, base); // Some of the operations remove what they find.
      for (const [operation, answer] of Object.entries(await tryAll(workspace, path))) {
        const shown = JSON.stringify(answer);
        assert.ok(!shown.includes(secret), `${operation} ${JSON.stringify(path)} told what is outside`);
        assert.ok(!shown.includes(base), `${operation} ${JSON.stringify(path)} told a host path: ${shown}`);
        const code = answer.ok ? "ok" : answer.failure.code;
        codes.set(code, (codes.get(code) ?? 0) + 1);
        if (/\.\.|^[/\\]/.test(path))
          assert.equal(code, "path_traversal_blocked", `${operation} ${JSON.stringify(path)}`);
      }
    }
    assert.deepEqual(everythingBut(base, [folder, join(base, "staging"), join(base, "kept")]), before);
    assert.deepEqual(readdirSync(join(base, "staging")), [], "nothing half-written stays");
    t.diagnostic(`${kind}: ${pathCount / 2} paths, seed ${seed}: ${JSON.stringify(Object.fromEntries(codes))}`);
  }
  for (const place of ["/", process.cwd(), homedir(), "/tmp"])
    assert.deepEqual(
      readdirSync(place).filter((name) => name.includes(marker)),
      [],
      place,
    );
});

test("no generated id of an agent, a conversation or the trash leads to a folder outside [W3][W5][W10]", async (t) => {
  const ground = await openGround(t);
  const row = await ground.start("conversation");
  const base = join(ground.data, "..");
  writeFileSync(join(base, "secret.txt"), secret);
  const owned = ["workspace", "workspaces", "staging", "kept", "trash"].map((name) => join(ground.data, name));
  const outside = () => everythingBut(base, owned).filter((line) => !line.includes("sessions.db"));
  const before = outside();
  let taken = 0;
  for (const id of fc.sample(hostilePath(), { numRuns: pathCount, seed })) {
    const assigned = await ground.workspaces.assignTask(row, { agent: id, parent: "root" });
    for (const found of [await ground.workspaces.taskOf(row, id), await ground.workspaces.ofAgent(row, id)]) {
      assert.equal(found.ok, assigned.ok, JSON.stringify(id));
      if (found.ok) assert.ok((await found.value.write(`${marker}.txt`, id.toWellFormed())).ok);
    }
    if (assigned.ok) taken += 1;
    assert.equal((await ground.workspaces.restore(row.owner, id)).ok, false);
    const conversation = await tryToStart(ground, id);
    if (conversation !== undefined) await ground.workspaces.ofConversation(conversation).write(`temp/${marker}`, "x");
  }
  assert.deepEqual(outside(), before);
  for (const folder of readdirSync(ground.path("workspaces"))) assert.match(folder, /^[A-Za-z0-9][A-Za-z0-9._-]*$/);
  t.diagnostic(`${pathCount} ids, seed ${seed}, ${taken} of them taken`);
});

/** The door checks ids first; what it lets through must be harmless, and what it does not is not even tried. */
async function tryToStart(ground: Ground, id: string) {
  const checked = ConversationId.safeParse(id);
  return checked.success ? ground.start(checked.data, { bare: true }).catch(() => undefined) : undefined;
}

async function tryAll(workspace: Workspace, path: string) {
  const streamed = await workspace.stream(path);
  const walked = await workspace.walk(path);
  return {
    stat: await workspace.stat(path),
    read: withText(await workspace.read(path)),
    stream: streamed.ok ? { ok: true as const, value: await joinedText(streamed.value.chunks) } : streamed,
    hash: await workspace.hash(path),
    list: await workspace.list(path),
    walk: walked.ok ? { ok: true as const, value: (await collected(walked.value)).map((entry) => entry.path) } : walked,
    write: await workspace.write(path, `written ${marker}`, { key: path }),
    restore: await workspace.restore(path, undefined),
    // Only now and then, so that there is something to find.
    ...(path.length % 7 === 0 ? { remove: await workspace.remove(path), empty: await workspace.empty(path) } : {}),
  } as const;
}

function withText(answer: Awaited<ReturnType<Workspace["read"]>>) {
  return answer.ok ? { ok: true as const, value: answer.value.bytes.toString("utf8") } : answer;
}

async function joinedText(chunks: AsyncIterable<Buffer>): Promise<string> {
  return Buffer.concat(await collected(chunks)).toString("utf8");
}

async function collected<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}

/** A neighbour's files and a secret beside the workspace. */
function plant(base: string): void {
  mkdirSync(join(base, "workspace", "w2"), { recursive: true });
  writeFileSync(join(base, "workspace", "w2", "secret.txt"), secret);
  writeFileSync(join(base, "secret.txt"), secret);
}

/** Links inside that lead there, and a pipe that would block a reader. */
function plantInside(folder: string, base: string): void {
  rmSync(folder, { recursive: true, force: true });
  for (const inside of ["outputs", "outputs/inside", "temp"]) {
    const at = join(folder, inside);
    mkdirSync(at, { recursive: true });
    symlinkSync(join(base, "workspace", "w2"), join(at, "to-outside"));
    symlinkSync(join(base, "secret.txt"), join(at, "to-secret"));
    symlinkSync("/", join(at, "to-root"));
    symlinkSync("../../../..", join(at, "to-parent"));
    symlinkSync("loop", join(at, "loop"));
    execFileSync("mkfifo", [join(at, "pipe")]);
  }
}

/** Path, kind, size, time and content of everything below, as far as it is not left out. */
function everythingBut(base: string, leftOut: readonly string[]): string[] {
  return readdirSync(base).flatMap((name) => {
    const path = join(base, name);
    const stat = lstatSync(path);
    if (leftOut.includes(path)) return [];
    // The folder of the workspaces changes when a task's own folder is made in it.
    const own = stat.isDirectory() ? path : `${path} ${stat.mode} ${stat.mtimeMs} ${readFileSync(path, "utf8")}`;
    return [own, ...(stat.isDirectory() ? everythingBut(path, leftOut) : [])];
  });
}

/** 60 in `npm run torture`. */
const roundsMin = Number(process.env.AGENTYARD_RACE_ROUNDS ?? 15);

test("swapping folders and files for links while every operation runs gets nothing in or out [W5][S5]", async (t) => {
  const { workspace, folder, base } = await testWorkspace(t);
  const outside = join(base, "outside");
  mkdirSync(join(outside, "deep"), { recursive: true });
  writeFileSync(join(outside, "f.txt"), secret);
  writeFileSync(join(outside, "deep", `${secret}.txt`), secret);
  const before = everythingBut(outside, []);

  const swapper = spawn(process.execPath, [join(import.meta.dirname, "../world/swapper.ts"), folder, outside], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(swapper, "close");
  await once(swapper.stdout, "data");
  const tally = { rounds: 0, ok: 0, refused: 0, leaks: 0, naiveRounds: 0, naiveLeaks: 0 };
  const hashes = new Set<string | undefined>();
  try {
    await race({ workspace, folder, tally, hashes });
  } finally {
    swapper.kill("SIGKILL");
    await ended;
  }
  t.diagnostic(JSON.stringify(tally));
  assert.equal(tally.leaks, 0);
  const ofSecret = hash("sha256", secret);
  const isKept = readdirSync(join(base, "kept", "contents")).includes(ofSecret);
  assert.deepEqual(
    [hashes.has(ofSecret), isKept],
    [false, false],
    "nothing of it is told as a change or kept for undo",
  );
  assert.deepEqual(everythingBut(outside, []), before, "nothing outside was written, removed or renamed");
});

type Tally = Record<"rounds" | "ok" | "refused" | "leaks" | "naiveRounds" | "naiveLeaks", number>;

type Race = { workspace: Workspace; folder: string; tally: Tally; hashes: Set<string | undefined> };

async function race({ workspace, folder, tally, hashes }: Race) {
  const observed = await workspace.observe();
  const isSeen = () => tally.ok > 100 && tally.refused > 100 && tally.naiveLeaks > 0;
  while (tally.rounds < roundsMin || !isSeen()) {
    for (const answer of await tryAllWorkspaceRace(workspace, tally.rounds)) {
      tally[answer.ok ? "ok" : "refused"] += 1;
      if (JSON.stringify(answer).includes(secret)) tally.leaks += 1;
    }
    const changes = observed.ok && (await observed.value.changes());
    if (changes !== false && changes.ok)
      for (const { before, after } of changes.value) hashes.add(before?.hash).add(after?.hash);
    tally.rounds += 1;
    // What people write first: look where the path leads, then open it.
    for (let again = 0; again < 100; again += 1) {
      tally.naiveRounds += 1;
      if (naiveRead(folder, "outputs/d/f.txt")?.includes(secret)) tally.naiveLeaks += 1;
    }
    assert.ok(tally.rounds < 6_000, "both sides are seen and the naive control leaks, sooner or later");
  }
}

async function tryAllWorkspaceRace(workspace: Workspace, round: number): Promise<{ ok: boolean; value?: unknown }[]> {
  const answers: { ok: boolean; value?: unknown }[] = [];
  for (const path of ["outputs/d/f.txt", "outputs/leaf.txt", "temp/f.txt"]) {
    const read = await workspace.read(path);
    answers.push(read.ok ? { ok: true, value: read.value.bytes.toString() } : read);
    const stream = await workspace.stream(path);
    answers.push(stream.ok ? { ok: true, value: await text(stream.value.chunks) } : stream);
    answers.push(await workspace.stat(path), await workspace.hash(path));
    answers.push(await workspace.write(path, "from the workspace", { key: `${round} ${path}` }));
    answers.push(await workspace.write(`${path}-dir/new.txt`, "new"));
    if (round % 3 === 0) answers.push(await workspace.remove(path, { key: `remove ${round} ${path}` }));
    if (round % 3 === 1) answers.push(await workspace.restore(path, undefined));
  }
  for (const path of [".", "outputs", "outputs/d", "temp"]) {
    answers.push(await workspace.list(path));
    const walk = await workspace.walk(path);
    answers.push(walk.ok ? { ok: true, value: (await collected(walk.value)).map((entry) => entry.path) } : walk);
  }
  const root = await workspace.openDescriptor();
  if (root.ok && root.value !== undefined) {
    const found = [...filesBelow(root.value.fd, ".")].map((file) => `${file.path} ${file.read(1_000)}`);
    root.value.close();
    answers.push({ ok: true, value: found });
  }
  answers.push(await workspace.info());
  if (round % 5 === 0) answers.push(await workspace.remove("outputs/d"), await workspace.empty("temp"));
  return answers;
}

async function text(chunks: AsyncIterable<Buffer>): Promise<string> {
  let all = "";
  try {
    for await (const chunk of chunks) all += chunk;
  } catch {
    return all; // It became shorter while it was read.
  }
  return all;
}

function naiveRead(folder: string, path: string): string | undefined {
  try {
    if (!realpathSync(join(folder, path)).startsWith(`${realpathSync(folder)}/`)) return undefined;
    return readFileSync(join(folder, path), "utf8");
  } catch {
    return undefined;
  }
}
