import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { alice, unwrap } from "./storage-place.ts";
import { dayMs, openGround } from "./workspaces-place.ts";

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
