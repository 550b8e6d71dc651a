import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { ok } from "../../src/base/result.ts";
import { openSkills } from "../../src/skills/skills.ts";
import { openFiles as filesAt, openBooks, type Workspace } from "../../src/workspace/workspace.ts";
import { folderWith } from "../world/folder.ts";
import { openFiles } from "../world/open-files.ts";
import { skillText } from "../world/skill-folder.ts";
import { quietLogger, testLimits } from "../world/workspace.ts";
import { alice, unwrap } from "./storage-place.ts";
import { dayMs, type Ground, openGround } from "./workspaces-place.ts";

const isRoot = process.getuid?.() === 0;
const needsRoot = { skip: isRoot ? false : "needs root to give files to somebody" };

test("a sandbox finds the folders of a conversation and of a task made, and knows what can be written [X1][S4]", async (t) => {
  const ground = await openGround(t);
  const row = await ground.start("c-1", { bare: true });
  unwrap(await ground.workspaces.assignTask(row, { agent: "agent-1", parent: "root" }));
  const conversation = unwrap(await ground.workspaces.ofConversation(row).guestFolder());
  const task = unwrap(await unwrap(await ground.workspaces.taskOf(row, "agent-1")).guestFolder());
  const marksOf = ({ folder }: { folder: string }, names: readonly string[]) =>
    Object.fromEntries(
      names.map((name) => {
        const { dev, ino } = lstatSync(join(folder, name));
        return [name, `${dev}:${ino}`];
      }),
    );
  assert.deepEqual(
    [conversation, task].map(({ uid, release, ...rest }) => ({ ...rest, hasUid: uid !== undefined })),
    [
      {
        folder: ground.path("workspace", "c-1"),
        inside: "/workspace/c-1",
        writable: ["uploads", "outputs", "temp"],
        skills: ground.path("workspace", "c-1", "skills"),
        marks: marksOf(conversation, [".", "uploads", "outputs", "temp"]),
        hasUid: isRoot,
      },
      {
        folder: ground.path("staging", "wait-agent-1"),
        inside: "/workspace/agent-1",
        writable: "all",
        skills: undefined,
        marks: marksOf(task, ["."]),
        hasUid: isRoot,
      },
    ],
  );
  rmdirSync(join(conversation.folder, "outputs"));
  unwrap(await ground.workspaces.ofConversation(row).guestFolder());
  const { uid } = lstatSync(join(conversation.folder, "outputs"));
  assert.equal(uid, conversation.uid ?? uid, "what was taken away is made again");
  for (const name of ["skills", "temp"]) {
    const place = join(conversation.folder, name);
    rmdirSync(place);
    unwrap(await ground.workspaces.ofConversation(row).guestFolder());
    rmdirSync(place);
    symlinkSync("/etc", place);
    const refused = await ground.workspaces.ofConversation(row).guestFolder();
    assert.equal(!refused.ok && refused.failure.code, "permission_denied", "a link is not followed");
    rmSync(place);
  }
});

test(
  "each workspace has a user of its own, the same after a restart, who can change what people upload [X3][X4]",
  needsRoot,
  async (t) => {
    const ground = await openGround(t);
    const [one, two] = [await ground.start("one"), await ground.start("two")];
    const files = ground.workspaces.ofConversation(one);
    unwrap(await files.write("uploads/temparea/data.csv", "a,b\n"));
    const { uid, folder } = unwrap(await files.guestFolder());
    const other = unwrap(await ground.workspaces.ofConversation(two).guestFolder());
    assert.ok(uid !== undefined && other.uid !== undefined && uid >= 0x7000_0000 && uid < 2 ** 31);
    assert.equal(other.uid, uid + 1);
    unwrap(await files.write("outputs/deep/er/late.txt", "late\n", { mode: 0o600 }));
    const sh =
      "echo more >> ../uploads/temparea/data.csv && echo more >> deep/er/late.txt && mkdir deep/own && mv deep new";
    const inside = spawnSync("/bin/sh", ["-c", sh], { cwd: join(folder, "outputs"), uid, gid: uid, encoding: "utf8" });
    assert.equal(inside.stderr, "");
    assert.equal(unwrap(await files.read("outputs/new/er/late.txt")).bytes.toString(), "late\nmore\n");
    assert.equal(readFileSync(join(folder, "uploads/temparea/data.csv"), "utf8"), "a,b\nmore\n");
    const root = spawnSync("/bin/sh", ["-c", "touch x skills/x; echo >> .metadata.json"], {
      cwd: folder,
      uid,
      gid: uid,
    });
    assert.notEqual(root.status, 0);
    assert.equal(lstatSync(folder).uid, 0, "the root stays ours");
    const again = await ground.restart();
    assert.equal(unwrap(await again.workspaces.ofConversation(one).guestFolder()).uid, uid);
  },
);

test(
  "what an older version left, and what comes back from the trash, is given to the workspace's user, and nothing else is [X3][W10]",
  needsRoot,
  async (t) => {
    const ground = await openGround(t);
    const row = await ground.start("c");
    const files = ground.workspaces.ofConversation(row);
    const folder = ground.path("workspace", "c");
    mkdirSync(join(folder, "outputs/old/deep"), { recursive: true });
    writeFileSync(join(folder, "outputs/old/deep/a.txt"), "a");
    writeFileSync(Buffer.concat([Buffer.from(join(folder, "outputs/old/")), Buffer.from([0xff])]), "odd");
    writeFileSync(ground.path("outside"), "outside");
    linkSync(ground.path("outside"), join(folder, "outputs/second-name"));
    symlinkSync(ground.path("outside"), join(folder, "outputs/link"));
    const { uid } = unwrap(await files.guestFolder());
    const owners = () =>
      [
        "outputs",
        "outputs/old",
        "outputs/old/deep",
        "outputs/old/deep/a.txt",
        "uploads",
        "skills",
        ".metadata.json",
        ".",
      ].map((path) => lstatSync(join(folder, path)).uid);
    assert.deepEqual(owners(), [uid, uid, uid, uid, uid, 0, 0, 0]);
    assert.equal(lstatSync(Buffer.concat([Buffer.from(join(folder, "outputs/old/")), Buffer.from([0xff])])).uid, uid);
    assert.equal(lstatSync(ground.path("outside")).uid, 0);

    ground.clock.move(8 * dayMs);
    assert.equal((await ground.workspaces.clean({ unusedMs: 7 * dayMs })).workspaces, 1);
    const [trashed] = await ground.workspaces.trash(alice);
    assert.ok(trashed !== undefined);
    for (const path of ["", "outputs", "outputs/old", "outputs/old/deep/a.txt"])
      chownSync(join(ground.path("trash", trashed.id), path), 0, path === "" ? (uid ?? 0) : 0);
    unwrap(await ground.workspaces.restore(alice, trashed.id));
    unwrap(await files.guestFolder());
    assert.deepEqual(owners(), [uid, uid, uid, uid, uid, 0, 0, 0]);
  },
);

// A task has no folder before something is written to it; its programs have one that waits until then.

const agent = "agent-1";

async function taskIn(ground: Ground, conversation = "c-1") {
  const row = await ground.start(conversation);
  unwrap(await ground.workspaces.assignTask(row, { agent, parent: "root" }));
  return unwrap(await ground.workspaces.taskOf(row, agent));
}

const isThere = (ground: Ground) => existsSync(ground.path("workspaces", agent));
const staged = (ground: Ground) => (existsSync(ground.path("staging")) ? readdirSync(ground.path("staging")) : []);

test("what a program writes is in its place as soon as anybody looks, and the program goes on there [W2][X1]", async (t) => {
  const ground = await openGround(t);
  const task = await taskIn(ground);
  const { folder, release } = unwrap(await task.guestFolder());
  const observation = unwrap(await task.observe());
  const before = process.cwd();
  process.chdir(folder);
  try {
    writeFileSync("a.txt", "one");
    assert.equal(unwrap(await task.read("a.txt")).bytes.toString(), "one");
    assert.ok(isThere(ground) && !existsSync(folder));
    writeFileSync("b.txt", "two");
  } finally {
    process.chdir(before);
  }
  assert.deepEqual(
    unwrap(await observation.changes()).map(({ path, before, after }) => [path, before, after?.bytes]),
    [
      ["a.txt", undefined, 3],
      ["b.txt", undefined, 3],
    ],
  );
  assert.equal(unwrap(await task.guestFolder()).folder, ground.path("workspaces", agent));
  release();
  assert.deepEqual(readdirSync(ground.path("workspaces", agent)), ["a.txt", "b.txt"]);
  const missing = await task.read("c.txt");
  assert.equal(!missing.ok && missing.failure.code, "file_not_found", "from now on");
});

test("what a program wrote before the process was killed is in its place at the next start; what waited in vain is gone [W2][W4][L2]", async (t) => {
  const ground = await openGround(t);
  const task = await taskIn(ground);
  writeFileSync(join(unwrap(await task.guestFolder()).folder, "kept.txt"), "kept");
  const row = await ground.start("c-2");
  unwrap(await ground.workspaces.assignTask(row, { agent: "agent-2", parent: "root" }));
  unwrap(await unwrap(await ground.workspaces.taskOf(row, "agent-2")).guestFolder());
  assert.equal(isThere(ground), false);
  const again = await ground.restart();
  await again.workspaces.sweep();
  assert.equal(readFileSync(again.path("workspaces", agent, "kept.txt"), "utf8"), "kept");
  assert.deepEqual([readdirSync(again.path("workspaces")), staged(again)], [[agent], []]);
  // It counts as any other: unused for long it goes to the trash, and comes back from there beside what waits by then.
  again.clock.move(8 * dayMs);
  assert.equal((await again.workspaces.clean({ unusedMs: 7 * dayMs })).workspaces, 1);
  const found = await again.storage.agentsOf(1);
  const found1 = found.find(({ id }) => id === agent)?.workspace ?? assert.fail();
  const files = unwrap(await again.workspaces.taskOf(await conversationOf(again, found1.number), agent));
  const waiting = unwrap(await files.guestFolder());
  const [trashed] = (await again.workspaces.trash(found1.owner)).filter(({ task: whose }) => whose === agent);
  unwrap(await again.workspaces.restore(found1.owner, trashed?.id ?? ""));
  assert.equal(unwrap(await files.read("kept.txt")).bytes.toString(), "kept");
  assert.equal(existsSync(waiting.folder), false, "there is one folder, which programs that run already see, too");
  waiting.release();
});

test("with a conversation goes what its programs wrote and nobody looked at, and nothing is made for it any more [S6][W2]", async (t) => {
  const ground = await openGround(t);
  const task = await taskIn(ground);
  writeFileSync(join(unwrap(await task.guestFolder()).folder, "secret.txt"), "secret");
  const deleted = { deleted: { at: ground.clock.now() } };
  unwrap(await ground.storage.append({ number: 1, events: [], with: deleted }));
  await ground.workspaces.sweep();
  assert.deepEqual([isThere(ground), staged(ground)], [false, []]);
  const refused = await task.guestFolder();
  assert.equal(!refused.ok && refused.failure.code, "workspace_not_assigned");
  assert.deepEqual([isThere(ground), staged(ground)], [false, []]);
});

async function conversationOf(ground: Ground, number: number) {
  return (await ground.storage.conversationByNumber(number)) ?? assert.fail();
}

const howTo = skillText("pdf");
const skillFiles = { "installed/pdf/SKILL.md": howTo, "installed/pdf/scripts/run.py": "print()" };

/** The files of a conversation, or of a task, beside one skill of the installation: `pdf`. */
async function openPlace(t: TestContext, kind: Workspace["kind"] = "conversation") {
  const base = folderWith(t, { ...skillFiles, "c/skills/": "", "c/outputs/": "" });
  const [folder, logger] = [join(base, "c"), quietLogger([])];
  const installed = { path: join(base, "installed"), shown: "installed", kind: "user", isTrusted: true } as const;
  const { look, shelf } = openSkills({
    ...{ settings: { places: [installed], byId: {} }, shelfDir: join(base, "copies"), logger },
  });
  await look();
  const asked: string[] = [];
  const skills: typeof shelf = {
    ...shelf,
    open(id) {
      asked.push(id);
      return shelf.open(id);
    },
  };
  const common = { id: "c", owner: "local", name: "1", clock: systemClock, ids: systemIds, limits: testLimits };
  const place = { folder, keptFolder: join(base, "kept"), uid: undefined, make: async () => ok(undefined), used() {} };
  const workspace = filesAt({
    ...{ ...common, kind, logger, books: openBooks(), skills },
    stagingFolder: join(base, "staging"),
    place: async () => ok(place),
  });
  /** It is taken out of the installation. */
  const uninstall = async () => {
    rmSync(join(installed.path, "pdf"), { recursive: true });
    await look();
  };
  return { base, folder, asked, workspace, uninstall, link: join(folder, "skills", "pdf") };
}

async function textOf(workspace: Workspace, path: string): Promise<string | undefined> {
  const read = await workspace.read(path);
  return read.ok ? read.value.bytes.toString() : read.failure.code;
}

test("the first look at a skill links it, every look shows the skill's own files under the path of the link, and none stays open [W9][K1]", async (t) => {
  const { workspace, link, base } = await openPlace(t);
  const looks = await Promise.all([textOf(workspace, "skills/pdf/SKILL.md"), textOf(workspace, "skills/pdf/SKILL.md")]);
  assert.deepEqual([looks, readlinkSync(link)], [[howTo, howTo], "/skills/pdf"]);
  const [stat, own] = [await workspace.stat("skills/pdf/scripts/run.py"), await workspace.stat("skills/pdf")];
  assert.deepEqual(stat.ok && [stat.value.path, stat.value.bytes], ["skills/pdf/scripts/run.py", 7]);
  assert.deepEqual(own.ok && [own.value.path, own.value.type], ["skills/pdf", "folder"]);
  const [listed, all] = [await workspace.list("skills/pdf"), await workspace.list("skills")];
  const shown = listed.ok && [listed.value.path, ...listed.value.entries.map(({ name, type }) => `${type} ${name}`)];
  assert.deepEqual(shown, ["skills/pdf", "file SKILL.md", "folder scripts"]);
  const linked = all.ok && all.value.entries.map(({ name, type, bytes }) => `${type} ${name} ${bytes}`);
  assert.deepEqual(linked, ["skill pdf 0"]);
  const walked: string[] = [];
  const walk = await workspace.walk("skills/pdf");
  for await (const { path } of walk.ok ? walk.value : []) walked.push(path);
  assert.deepEqual(walked.sort(), ["skills/pdf/SKILL.md", "skills/pdf/scripts", "skills/pdf/scripts/run.py"]);
  for (const [path, rest] of [
    ["skills/pdf/scripts", "scripts"],
    ["skills/pdf", "."],
  ] as const) {
    const descriptor = await workspace.openDescriptor(path);
    assert.deepEqual(descriptor.ok && [descriptor.value?.prefix, descriptor.value?.path], ["skills/pdf/", rest]);
    if (descriptor.ok) descriptor.value?.close();
  }
  const missing = await workspace.read("skills/pdf/none");
  assert.equal(missing.ok || missing.failure.code, "file_not_found");
  assert.deepEqual(openFiles(base), []);
});

test("what somebody else put into skills/ stays theirs: files are read as they are, no link but ours is followed [W9][W5]", async (t) => {
  const { workspace, folder, asked, base } = await openPlace(t);
  const skills = join(folder, "skills");
  mkdirSync(join(skills, "pdf"));
  writeFileSync(join(skills, "pdf", "SKILL.md"), "of the operator");
  writeFileSync(join(base, "secret"), "secret");
  symlinkSync(base, join(skills, "out"));
  symlinkSync("/skills/pdf", join(skills, "other"));
  assert.equal(await textOf(workspace, "skills/pdf/SKILL.md"), "of the operator");
  for (const path of ["skills/out/secret", "skills/other/SKILL.md", "skills/out"])
    assert.equal(await textOf(workspace, path), "permission_denied", path);
  const listed = await workspace.list("skills");
  const types = listed.ok && listed.value.entries.map(({ name, type }) => `${type} ${name}`);
  assert.deepEqual(types, ["special other", "special out", "folder pdf"]);
  assert.deepEqual(asked, [], "none of them is a skill of the installation");
});
