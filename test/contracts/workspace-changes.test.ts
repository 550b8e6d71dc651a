import assert from "node:assert/strict";
import {
  chmodSync,
  closeSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { failure } from "../../src/protocol/failure.ts";
import { BrokenOff, filesBelow, type Workspace } from "../../src/workspace/workspace.ts";
import { manualClock } from "../world/manual-clock.ts";
import { openFiles } from "../world/open-files.ts";
import { testWorkspace } from "../world/workspace.ts";
import { codeOf, unwrap } from "./storage-place.ts";
import { openGround } from "./workspaces-place.ts";

test("what a file was when an earlier state took its place can itself be given back, also where there was no file before [W12]", async (t) => {
  const { workspace } = await testWorkspace(t);
  const made = unwrap(await workspace.write("outputs/a", "of a tool", { key: "call" }));
  const changed = unwrap(await workspace.write("outputs/a", "of a tool again", { key: "call 2" }));
  // A person writes without a key: nothing was kept of it so far.
  unwrap(await workspace.write("outputs/a", "of a person", { mode: 0o640 }));
  const undone = unwrap(await workspace.restore("outputs/a", changed.before));
  assert.deepEqual([await textOf(workspace, "outputs/a"), undone.lost], ["of a tool", undefined]);
  unwrap(await workspace.restore("outputs/a", undone.before));
  assert.equal(await textOf(workspace, "outputs/a"), "of a person");
  const taken = unwrap(await workspace.restore("outputs/a", made.before));
  assert.deepEqual(
    [codeOf(await workspace.stat("outputs/a")), taken.after, taken.lost],
    ["file_not_found", undefined, undefined],
  );
  unwrap(await workspace.restore("outputs/a", taken.before));
  assert.deepEqual(
    [await textOf(workspace, "outputs/a"), unwrap(await workspace.stat("outputs/a")).mode],
    ["of a person", 0o640],
  );
});

test("of what cannot be given back it is said so: a link that was removed, a file with a second name that was replaced [W12]", async (t) => {
  const { workspace, folder, base } = await testWorkspace(t);
  const nothing = { before: undefined, after: undefined };
  symlinkSync("/nowhere", join(folder, "outputs", "link"));
  assert.deepEqual(unwrap(await workspace.remove("outputs/link")), {
    ...{ path: "outputs/link", ...nothing, lost: "unreadable" },
  });
  mkdirSync(join(folder, "outputs", "below"));
  assert.deepEqual(unwrap(await workspace.remove("./outputs//below/")), {
    ...{ path: "outputs/below", ...nothing, lost: undefined },
  });
  writeFileSync(join(base, "outside"), "of somebody");
  linkSync(join(base, "outside"), join(folder, "outputs", "second"));
  const replaced = unwrap(await workspace.write("outputs/second", "new", { key: "call" }));
  assert.deepEqual([replaced.before, replaced.lost], [{ bytes: 11, mode: 0o644 }, "unreadable"]);
  assert.equal(statSync(join(base, "outside")).size, 11);
});

test("what programs wrote counts for the quota as soon as it was told, and after a minute at the latest [W11]", async (t) => {
  const clock = manualClock();
  const { workspace, folder } = await testWorkspace(t, { clock, limits: { bytesMax: 100 } });
  unwrap(await workspace.write("outputs/a", "x"));
  writeFileSync(join(folder, "outputs", "b"), "y".repeat(98));
  clock.move(60_000);
  const quota = { what: "bytes", limit: 100, setting: "workspace.bytes_max" } as const;
  assert.deepEqual(
    await workspace.write("outputs/c", "zz"),
    failure("quota_exceeded", { path: "outputs/c", ...quota }),
  );
  unwrap(await workspace.write("outputs/c", "z"));
  unwrap(await workspace.remove("outputs/b"));
  const observation = unwrap(await workspace.observe());
  writeFileSync(join(folder, "outputs", "b"), "y".repeat(98));
  unwrap(await observation.changes());
  assert.equal(codeOf(await workspace.write("outputs/d", "z")), "quota_exceeded");
});

test("refusals are told in the log: of few each one, of many ever fewer, with their number [W5][Q1]", async (t) => {
  const { workspace, folder, logged } = await testWorkspace(t);
  assert.equal(codeOf(await workspace.read("outputs/none")), "file_not_found");
  assert.equal(logged.length, 0, "what is not there is no refusal");
  symlinkSync("/etc/passwd", join(folder, "outputs", "link"));
  for (let index = 0; index < 40; index += 1)
    assert.equal(codeOf(await workspace.read("outputs/link")), "permission_denied");
  const told = logged.map((line) => JSON.parse(line.replace(/^access to a file was refused /, "")));
  assert.deepEqual(
    told,
    [1, 2, 3, 4, 5, 6, 7, 8, 16, 32].map((count) => ({ workspace: "w1", path: "outputs/link", why: "link", count })),
  );
});

test("a folder that is emptied stays as open to programs as it was [W10][X1]", async (t) => {
  const { workspace, folder } = await testWorkspace(t);
  chmodSync(join(folder, "temp"), 0o775);
  mkdirSync(join(folder, "temp", "below"));
  writeFileSync(join(folder, "temp", "below", "a"), "");
  unwrap(await workspace.empty("temp"));
  assert.deepEqual([readdirSync(join(folder, "temp")), statSync(join(folder, "temp")).mode & 0o777], [[], 0o775]);
});

test("nothing that is done with files leaves one open, whether it succeeds, is refused or is left [W11][Q2]", async (t) => {
  const limits = { bytesMax: 3_000_000 };
  const { workspace, folder, base } = await testWorkspace(t, { limits });
  const fresh = async () => (await testWorkspace(t, { kind: "task", base: join(base, `task-${++tasks}`) })).workspace;
  let tasks = 0;
  const choose = () => ({ ok: true, value: "chosen" }) as const;
  const works: Record<string, () => Promise<unknown>> = {
    "the first write of a task": async () => (await fresh()).write("deep/er/a", "a"),
    "the first write of a task, which chooses": async () => (await fresh()).write("a", "a", { choose }),
    "the first folder of programs": async () => (await fresh()).guestFolder(),
    "a write": () => workspace.write("outputs/new/er/a", "a"),
    "a write that replaces": () => workspace.write("outputs/new/er/a", "b", { key: "call" }),
    "a write that is a conflict": () => workspace.write("outputs/new/er/a", "b", { expected: "0".repeat(64) }),
    "a write that chooses": () => workspace.write("outputs/new/er/c", "c", { choose }),
    "a write without room": () => workspace.write("outputs/large", Buffer.alloc(3_000_001)),
    "a write that breaks off": () => workspace.write("outputs/half", half()),
    "a write below a file": () => workspace.write("outputs/new/er/a/b", "b"),
    "a write where a folder comes to be": () =>
      workspace.write("outputs/taken/a", "a", {
        onStart: () => mkdirSync(join(folder, "outputs/taken/a"), { recursive: true }),
      }),
    "a removal": () => workspace.remove("outputs/new/er/a", { key: "call 2" }),
    "a removal of nothing": () => workspace.remove("outputs/none/a"),
    "a removal of a folder": () => workspace.remove("outputs/new"),
    "an emptied folder": () => workspace.empty("temp"),
    "a look at a file": async () => [
      await workspace.write("outputs/a", "12345"),
      await workspace.stat("outputs/a"),
      await workspace.read("outputs/a"),
      await workspace.hash("outputs/a"),
      await workspace.list("outputs"),
      await workspace.info(),
      await workspace.measure(),
    ],
    "a look at what is not there": async () => [
      await workspace.read("outputs/none/a"),
      await workspace.list("outputs/none"),
      await workspace.read("outputs/a/b"),
      await workspace.read("outputs"),
    ],
    "a stream": async () => {
      for await (const _ of unwrap(await workspace.stream("outputs/a")).chunks);
    },
    "a stream that is left": async () => unwrap(await workspace.stream("outputs/a")).chunks.return(),
    "a stream of a file that shrinks": async () => {
      const { chunks } = unwrap(await workspace.stream("outputs/a"));
      truncateSync(join(folder, "outputs/a"), 0);
      await assert.rejects(chunks.next());
    },
    "what programs changed": async () => {
      for (const bytes of [1, 300_000]) {
        writeFileSync(join(folder, "outputs", `${bytes}`), Buffer.alloc(bytes, tasks));
        linkSync(join(folder, "outputs", `${bytes}`), join(folder, "outputs", `${bytes}-second`));
      }
      const observation = unwrap(await workspace.observe());
      for (const name of ["1-second", "300000-second"]) rmSync(join(folder, "outputs", name));
      unwrap(await observation.changes());
    },
    "a descriptor": () => readBelow(workspace),
  };
  const left: string[] = [];
  for (const [what, work] of Object.entries(works)) {
    await work();
    left.push(...openFiles().flatMap((path) => (path.startsWith(base) ? [`${what}: ${path}`] : [])));
  }
  assert.deepEqual([...new Set(left)], []);
});

async function readBelow(workspace: Workspace): Promise<void> {
  const descriptor = unwrap(await workspace.openDescriptor());
  for (const path of ["outputs", "outputs/1", "outputs/none", "outputs/1/none"])
    for (const file of filesBelow(descriptor?.fd ?? 0, path)) file.read(1);
  for (const _ of filesBelow(descriptor?.fd ?? 0, "outputs")) break;
  descriptor?.close();
}

test("bytes whose place is not known yet are taken up to the limit, read as they came, and gone when they are let go [F4][Q2]", async (t) => {
  const { workspaces, data, path } = await openGround(t);
  const open = () => openFiles().filter((file) => file.startsWith(data) && !file.includes("sessions.db"));
  const limit = { bytes: 6, setting: "uploads.file_bytes_max" };
  const spooled = unwrap(await workspaces.spool(pieces("123", "456"), { name: "a.txt", limit }));
  assert.deepEqual([spooled.bytes, `${await spooled.read(1, 3)}`, `${await spooled.read(4, 9)}`], [6, "234", "56"]);
  for (const _ of [1, 2]) {
    let text = "";
    for await (const piece of spooled.chunks()) text += Buffer.from(piece).toString();
    assert.equal(text, "123456", "each time from the beginning");
  }
  assert.equal(open().length, 1);
  spooled.close();
  assert.deepEqual(open(), []);
  spooled.close();
  assert.deepEqual(
    await workspaces.spool(pieces("123", "456", "7", "8"), { name: "a.txt", limit }),
    failure("too_large", { path: "a.txt", sizeBytes: 7, limitBytes: 6, setting: "uploads.file_bytes_max" }),
  );
  assert.deepEqual(
    await workspaces.spool(half(), { name: "a.txt", limit }),
    failure("write_failed", { path: "a.txt", why: "broken_off" }),
  );
  assert.deepEqual(open(), []);
  renameSync(path("staging"), path("elsewhere"));
  writeFileSync(path("staging"), "in the way");
  assert.equal(codeOf(await workspaces.spool(pieces("1"), { name: "a.txt", limit })), "not_a_file");
});

async function* pieces(...texts: string[]): AsyncGenerator<Uint8Array, void> {
  for (const text of texts) yield Buffer.from(text);
}

async function* half(): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from("half");
  throw new BrokenOff("the other side is gone");
}

async function textOf(workspace: Workspace, path: string): Promise<string> {
  return unwrap(await workspace.read(path)).bytes.toString();
}

test("what a workspace takes up is counted by blocks, against bytes, files and the room on the disk [X4]", async (t) => {
  const limits = { bytesMax: 200_000, filesMax: 6 };
  const { workspace, folder, again, base } = await testWorkspace(t, { limits });
  const overNow = async () => unwrap(await workspace.measure()).over;
  const before = unwrap(await workspace.measure());
  const sparse = openSync(join(folder, "outputs", "sparse"), "w");
  ftruncateSync(sparse, 2 ** 40);
  closeSync(sparse);
  writeFileSync(join(folder, "outputs", "real"), Buffer.alloc(65_536, 1));
  linkSync(join(folder, "outputs", "real"), join(folder, "outputs", "same"));
  const { freeBytes: _, ...measured } = unwrap(await again().measure());
  assert.deepEqual(measured, {
    ...{ bytes: before.bytes + 65_536, files: 3, folders: before.folders, bytesMax: 200_000, filesMax: 6 },
    ...{ over: undefined, isFarOver: false },
  });
  for (const name of ["1", "2", "3"]) symlinkSync("nowhere", join(folder, "temp", name));
  assert.equal(await overNow(), undefined);
  symlinkSync("nowhere", join(folder, "temp", "4"));
  assert.equal(await overNow(), "files");
  rmSync(join(folder, "temp", "4"));
  for (const name of ["a", "b", "c"]) mkdirSync(join(folder, "temp", name));
  assert.equal(await overNow(), "files", "folders fill a disk too");
  for (const name of ["a", "b", "c"]) rmSync(join(folder, "temp", name), { recursive: true });
  writeFileSync(join(folder, "outputs", "real"), Buffer.alloc(200_001, 1));
  assert.equal(await overNow(), "bytes");
  // Programs that have files open without a name take up room as well: twice the limit at least, and 2 GiB.
  const far = limits.bytesMax + 2 * 1024 ** 3 - unwrap(await workspace.measure()).bytes;
  const withMore = async (moreBytes: number) => unwrap(await workspace.measure({ moreBytes }));
  const [atFar, beyond] = [await withMore(far), await withMore(far + 1)];
  assert.deepEqual([atFar.over, atFar.isFarOver, beyond.isFarOver], ["bytes", false, true]);
  assert.equal(beyond.bytes, limits.bytesMax + 2 * 1024 ** 3 + 1);
  const small = await testWorkspace(t, { base, limits: { freeBytesMin: 2 ** 60 } });
  assert.equal(unwrap(await small.workspace.measure()).over, "disk");
  const bare = await testWorkspace(t, { kind: "task" });
  const nothing = unwrap(await bare.workspace.measure());
  assert.deepEqual([nothing.bytes, nothing.files, nothing.over], [0, 0, undefined]);
});
