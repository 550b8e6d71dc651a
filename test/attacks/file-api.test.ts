import assert from "node:assert/strict";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { after, type TestContext } from "node:test";
import type { Workspace } from "../../src/workspace/workspace.ts";
import { guestTest as test } from "../contracts/sandbox-guests.ts";
import { isContained } from "../contracts/sandbox-on-kubernetes.ts";
import { openGround } from "../contracts/sandbox-service-place.ts";
import { observeInLittleMemory } from "../world/look-in-little-memory.ts";
import { testWorkspace } from "../world/workspace.ts";
import { type Attacked, attackerUid, attempt, conversation, endGuests, newFolder, openAttacked } from "./guest.ts";

after(endGuests);

/** Files of a conversation as the host reads them, and a guest that has them as its own. */
async function open(t: TestContext): Promise<{
  readonly workspace: Workspace;
  readonly attacked: Attacked;
  readonly folder: string;
  readonly base: string;
}> {
  const base = newFolder();
  const { workspace, folder } = await testWorkspace(t, { base });
  const attacked = await openAttacked({ workspace: conversation(folder) });
  t.after(() => attacked.guest.close("over"));
  return { workspace, attacked, folder, base };
}

async function answers(workspace: Workspace, paths: readonly string[]): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const path of paths) {
    const read = await workspace.read(path);
    found.push(
      read.ok
        ? read.value.bytes.toString()
        : [read.failure.code, "why" in read.failure.params ? read.failure.params.why : ""],
    );
  }
  return found;
}

const refusedLink = ["permission_denied", "link"];

test("attack 81: leading a download to a file of the host by a link is stopped by the descriptor walk [W5][S5]", async (t) => {
  const { workspace, attacked } = await open(t);
  const code = `
os.symlink("/etc/passwd", "outputs/a.txt")
os.symlink("../skills/SKILL.md", "outputs/b.txt")
os.symlink("/proc/self/environ", "outputs/c.txt")
os.symlink("c.txt", "outputs/d.txt")
os.symlink("e.txt", "outputs/e.txt")
say(open("outputs/a.txt").read().count("root"))
`;
  // Inside, the link leads to the guest's own file.
  assert.equal(await attempt(attacked, { code }), 0);
  const paths = ["a", "b", "c", "d", "e"].map((name) => `outputs/${name}.txt`);
  assert.deepEqual(
    await answers(workspace, paths),
    paths.map(() => refusedLink),
  );
});

test("attack 148: leading a download through a folder that is a link is stopped by the descriptor walk [W5][S5]", async (t) => {
  const { workspace, attacked } = await open(t);
  const code = `
os.symlink("/etc", "outputs/etc")
os.symlink("/proc/self/root", "outputs/root")
os.makedirs("outputs/a/b")
os.symlink("../../..", "outputs/a/b/up")
say(1)
`;
  assert.equal(await attempt(attacked, { code }), 1);
  const paths = ["outputs/etc/passwd", "outputs/root/etc/passwd", "outputs/a/b/up/skills/SKILL.md"];
  assert.deepEqual(
    await answers(workspace, paths),
    paths.map(() => refusedLink),
  );
  const walk = await workspace.walk("outputs");
  const walked: string[] = [];
  for await (const { path } of walk.ok ? walk.value : []) walked.push(path);
  assert.deepEqual(walked.sort(), ["outputs/a", "outputs/a/b"]);
});

test("attack 82: swapping a folder for a link while it is read is stopped by descriptors that are held [W5][S5]", async (t) => {
  const { workspace, attacked, folder } = await open(t);
  const secret = join(dirname(folder), "outside");
  mkdirSync(secret);
  writeFileSync(join(secret, "f.txt"), "secret");
  const swap = `
os.makedirs("outputs/real"); open("outputs/real/f.txt", "w").write("own")
os.symlink(${JSON.stringify(secret)}, "outputs/link")
child = os.fork()
if child == 0:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        for name in ("real", "link"):
            os.rename("outputs/" + name, "outputs/d"); os.rename("outputs/d", "outputs/" + name)
    os._exit(0)
say(1)
`;
  assert.equal(await attempt(attacked, { code: swap, isKept: true }), 1);
  const seen = new Set<unknown>();
  for (let round = 0; round < 300; round += 1) {
    for (const answer of await answers(workspace, ["outputs/d/f.txt"]))
      seen.add(Array.isArray(answer) ? "refused" : answer);
  }
  await attacked.guest.endTurn();
  assert.equal(seen.has("secret"), false);
});

test("attack 83: leading an upload outside by a link at its place is stopped by files that are made anew [W5][F4]", async (t) => {
  const { workspace, attacked, folder } = await open(t);
  const victim = join(dirname(folder), "victim");
  writeFileSync(victim, "whole");
  const code = `
os.symlink(${JSON.stringify(victim)}, "uploads/data.csv")
os.mkdir("uploads/temparea"); os.symlink("/etc", "uploads/temparea/deep")
say(1)
`;
  assert.equal(await attempt(attacked, { code }), 1);
  const written = [
    await workspace.write("uploads/data.csv", "x"),
    await workspace.write("uploads/temparea/deep/x", "x"),
  ];
  assert.deepEqual(
    [
      written.map((answer) => (answer.ok ? "ok" : answer.failure.code)),
      readFileSync(victim, "utf8"),
      existsSync("/etc/x"),
    ],
    [["permission_denied", "permission_denied"], "whole", false],
  );
});

test("attack 85: holding a reader for ever by a pipe is stopped by the call filter, and by reads that do not wait [W5][X3]", async (t) => {
  const { workspace, attacked } = await open(t);
  const code = `
s = socket.socket(socket.AF_UNIX); s.bind("outputs/socket")
say([error_of(os.mkfifo, "outputs/pipe"), error_of(os.mknod, "outputs/disk", 0o60666, os.makedev(8, 0))])
`;
  assert.deepEqual(await attempt(attacked, { code }), ["EPERM", "EPERM"]);
  assert.deepEqual(await answers(workspace, ["outputs/pipe", "outputs/disk", "outputs/socket"]), [
    ["file_not_found", ""],
    ["file_not_found", ""],
    ["permission_denied", "special"],
  ]);
});

test("attack 47: names that mislead and folders without end are stopped by the walk and its depth [W5][S5]", async (t) => {
  const { workspace, attacked, folder } = await open(t);
  const names = [
    "line\nbreak.txt",
    "\u202Efdp.exe",
    "x".repeat(255),
    "-rf",
    "\u001b[2J.txt",
    "a\\..\\b",
    " ",
    "%2e%2e",
  ];
  const code = `
for name in json.loads(${JSON.stringify(JSON.stringify(names))}):
    open("outputs/" + name, "w").write("own")
open(b"outputs/\\xff\\xfe", "w").write("own")
os.chdir("temp")
for _ in range(1500):
    os.mkdir("d"); os.chdir("d")
say(len(os.listdir("/workspace/c1/outputs")))
`;
  assert.equal(await attempt(attacked, { code }), names.length + 1);
  const listed = await workspace.list("outputs", { hidden: true });
  assert.deepEqual(listed.ok && listed.value.entries.map(({ name }) => name).sort(), [...names, "\uFFFD\uFFFD"].sort());
  const emptied = [await workspace.empty("outputs"), await workspace.empty("temp")];
  assert.deepEqual(
    [emptied.map(({ ok }) => ok), readdirSync(join(folder, "outputs")), readdirSync(join(folder, "temp"))],
    [[true, true], [], []],
  );
});

test("attack 201: ending the server by a chain of folders whose paths fill its memory is stopped by paths that have an end [W5][X4][S5]", async (t) => {
  const { workspace, attacked, base } = await open(t);
  t.after(() => workspace.empty("temp"));
  const little = await observeInLittleMemory(base);
  t.after(() => little.close());
  const code = `
os.chdir("temp")
for _ in range(4000):
    os.mkdir("d" * 255); os.chdir("d" * 255); open("f", "w").close()
say(1)
`;
  assert.equal(await attempt(attacked, { code }), 1);
  const { changes, measured, walked } = await little.changes();
  assert.deepEqual(
    [changes.length, Math.max(...changes.map(({ path }) => path.length)), measured?.files, walked.files],
    [16, "temp/".length + 16 * 256 + 1, 4001, 4001],
    "the 4001st is that of the skill",
  );
  assert.ok((await workspace.empty("temp")).ok);
});

test("attack 94: locking folders against the host's cleaner is stopped by a removal that opens them [W10][S6]", async (t) => {
  const { workspace, attacked, folder } = await open(t);
  const code = `
os.makedirs("outputs/a/b/c"); open("outputs/a/b/c/f", "w").write("x")
for name in ("outputs/a/b/c/f", "outputs/a/b/c", "outputs/a/b", "outputs/a", "outputs"): os.chmod(name, 0)
say(1)
`;
  assert.equal(await attempt(attacked, { code }), 1);
  const emptied = await workspace.empty("outputs");
  chmodSync(join(folder, "outputs"), 0o755);
  assert.deepEqual([emptied.ok, readdirSync(join(folder, "outputs"))], [true, []]);
});

test("attack 87: cutting or growing a file while it is downloaded is stopped by the length it had [W5]", async (t) => {
  const { workspace, folder } = await open(t);
  const path = join(folder, "outputs/data.bin");
  const download = async (change: () => void) => {
    writeFileSync(path, Buffer.alloc(3 * 1024 * 1024, 1));
    const stream = await workspace.stream("outputs/data.bin");
    assert.ok(stream.ok);
    let bytes = (await stream.value.chunks.next()).value?.length ?? 0;
    change();
    try {
      for await (const chunk of stream.value.chunks) bytes += chunk.length;
      return bytes;
    } catch {
      return "broken off";
    }
  };
  assert.deepEqual(
    [
      await download(() => truncateSync(path, 100)),
      await download(() => writeFileSync(path, "x".repeat(999), { flag: "a" })),
    ],
    ["broken off", 3 * 1024 * 1024],
  );
});

test("attack 88: exchanging a file while it is sent or hashed is stopped by the descriptor that is held [W5]", async (t) => {
  const { workspace, attacked, folder } = await open(t);
  const old = Buffer.alloc(3 * 1024 * 1024, "a");
  writeFileSync(join(folder, "outputs/data.bin"), old);
  const stream = await workspace.stream("outputs/data.bin");
  assert.ok(stream.ok);
  const chunks = [(await stream.value.chunks.next()).value ?? Buffer.alloc(0)];
  const code = `open("outputs/new", "w").write("b" * 3145728); os.rename("outputs/new", "outputs/data.bin"); say(1)`;
  assert.equal(await attempt(attacked, { code }), 1);
  for await (const chunk of stream.value.chunks) chunks.push(chunk);
  assert.equal(Buffer.concat(chunks).equals(old), true);
});

/** An image has one of its own, which is as closed as that of any machine. */
const noShadow = isContained ? "EACCES" : "ENOENT";

test("attack 149: replacing outputs by a link in a workspace that is all writable is stopped by the descriptor walk [W5][S5]", async (t) => {
  const { workspace, folder } = await testWorkspace(t, { base: newFolder(), kind: "task" });
  mkdirSync(join(folder, "outputs"), { recursive: true });
  if (attackerUid !== undefined)
    for (const path of [folder, join(folder, "outputs")]) chownSync(path, attackerUid, attackerUid);
  const attacked = await openAttacked({ workspace: { folder, inside: "/workspace/agent-7", writable: "all" } });
  const code = `os.rename("outputs", "old"); os.symlink("/etc", "outputs"); say("passwd" in os.listdir("outputs"))`;
  assert.deepEqual(await attempt(attacked, { code }), true);
  assert.deepEqual(await answers(workspace, ["outputs/passwd", "outputs/hostname"]), [refusedLink, refusedLink]);
  assert.equal((await workspace.write("outputs/x", "x")).ok, false);
  // A guest of that workspace is started again: it finds the link, and nothing of the host behind it.
  await attacked.guest.close("over");
  const again = await openAttacked({ workspace: { folder, inside: "/workspace/agent-7", writable: "all" } });
  assert.equal(await attempt(again, { code: `say(error_of(open, "outputs/shadow"))` }), noShadow);
});

test("attack 150: having a link in place of outputs mounted is stopped by folders that are opened without following [W5][X3]", async (t) => {
  const { attacked, folder } = await open(t);
  await attacked.guest.close("over");
  renameSync(join(folder, "outputs"), join(folder, "old"));
  symlinkSync("/etc", join(folder, "outputs"));
  await assert.rejects(
    openAttacked({ workspace: { folder, inside: "/workspace/c1", writable: ["uploads", "outputs", "temp"] } }),
    /start_failed: a folder cannot be opened: ENOTDIR/,
  );
});

test("attack 151: having a hard link downloaded is stopped by the count of its names [W5][S5]", async (t) => {
  const { workspace, attacked } = await open(t);
  const code = `
open("outputs/a.txt", "w").write("own")
os.link("outputs/a.txt", "outputs/b.txt")
say([error_of(os.link, "outputs/a.txt", "uploads/c.txt"), error_of(os.link, "/proc/self/exe", "outputs/exe")])
`;
  assert.deepEqual(await attempt(attacked, { code }), ["EXDEV", "EXDEV"]);
  assert.deepEqual(await answers(workspace, ["outputs/a.txt", "outputs/b.txt"]), [
    ["permission_denied", "hard_link"],
    ["permission_denied", "hard_link"],
  ]);
});

// What a program can make the host do on its behalf.
test("attack 163: filling the log with files that nobody may read is stopped by its few lines [X4][O1]", async (t) => {
  const ground = await openGround(t);
  const place = await ground.place("c1");
  const ran = async (code: string) => {
    const wanted = { language: "python", code, timeoutMs: 30_000, conversationId: "c1" } as const;
    const submitted = await ground.sandbox.executions.submit(place, wanted);
    assert.ok(submitted.ok);
    const { owner, id } = submitted.value;
    return ground.sandbox.executions.wait(owner, id, new AbortController().signal);
  };
  await ran(`
import os
open("temp/a", "w").write("x")
for number in range(3000): os.link("temp/a", f"temp/h{number}")
`);
  const before = ground.logged.length;
  const over = await ran("os.chmod('temp/a', 0o600); open('temp/z', 'w').write('fine')");
  assert.deepEqual([over?.status, over?.report?.changes.length], ["completed", 500]);
  const refused = ground.logged.slice(before).filter((line) => line.includes("refused"));
  assert.ok(refused.length > 0 && refused.length < 20, `${refused.length} lines`);
});
