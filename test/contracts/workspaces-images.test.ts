import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, closeSync, openSync, readdirSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { failure } from "../../src/protocol/failure.ts";
import { mountsBelow, withImages } from "../world/images.ts";
import { alice, unwrap } from "./storage-place.ts";
import { assertNoHostPath, dayMs, filesOf, openGround, textOf, write } from "./workspaces-place.ts";

const mebibyte = 1024 ** 2;
const small = { disk: "image", limits: { bytesMax: 16 * mebibyte, filesMax: 200 } } as const;

test(
  "with images each conversation has a disk of its own, at the place where its folder would be [W1][W11][X4]",
  withImages(async (t) => {
    const ground = await openGround(t, small);
    const { workspaces, data, path } = ground;
    const files = workspaces.ofConversation(await ground.start("one"));
    await write(files, "outputs/deep/a.txt", "first");
    await write(files, "outputs/deep/a.txt", "second");
    assert.deepEqual(filesOf(path("workspace", "one")), { "outputs/deep/a.txt": "second" });
    assert.deepEqual(mountsBelow(data).sort(), ["mounted/workspace/one", "workspace/one"]);
    assert.notEqual(statSync(path("workspace", "one")).dev, statSync(data).dev);
    const options = mountsBelow(data, "options");
    assert.deepEqual(
      options.filter((one) => !/nosuid,nodev/.test(one)),
      [],
    );
    const listed = unwrap(await files.list(".", { hidden: true })).entries.map(({ name }) => name);
    assert.deepEqual(listed, [".metadata.json", "outputs", "skills", "temp", "uploads"], "nothing of ours is seen");
    const { blocks } = statSync(path("images", "workspace", "one"));
    assert.ok(blocks * 512 < 4 * mebibyte, `an image takes up what is in it (${blocks})`);
    const { freeBytes } = unwrap(await files.measure());
    const below = statfsSync(data);
    assert.ok(freeBytes > below.bavail * below.bsize * 0.9, "the disk below is what must not be full");
    await workspaces.close();
    assert.deepEqual([mountsBelow(data), readdirSync(path("workspace"))], [[], []]);
    assertNoHostPath(ground);
  }),
);

test(
  "a disk that is full, of bytes or of files, says so as a limit does, and the next conversation has room [W7][W11][X4]",
  withImages(async (t) => {
    const ground = await openGround(t, small);
    const [full, other] = [await ground.start("full"), await ground.start("other")].map(
      ground.workspaces.ofConversation,
    );
    assert.ok(full && other);
    // As a program does it, without asking us.
    const room = statfsSync(ground.path("workspace", "full"));
    assert.ok(room.bavail * room.bsize <= small.limits.bytesMax && room.bavail * room.bsize > 15.5 * mebibyte);
    assert.throws(() => fill(ground.path("workspace/full/temp/bomb")), noRoom);
    const { bytes, over } = unwrap(await full.measure());
    assert.deepEqual([bytes <= small.limits.bytesMax, over], [true, undefined]);
    const limit = { what: "bytes", limit: small.limits.bytesMax, setting: "workspace.bytes_max" } as const;
    assert.deepEqual(
      await full.write("outputs/a.bin", Buffer.alloc(mebibyte)),
      failure("quota_exceeded", { path: "outputs/a.bin", ...limit }),
    );
    await write(other, "outputs/a.txt", "room enough");
    unwrap(await full.remove("temp/bomb"));
    await write(full, "outputs/a.txt", "room again");

    let made = 0;
    const many = () => {
      for (;;) writeFileSync(ground.path(`workspace/full/temp/f${made++}`), "");
    };
    assert.throws(many, noRoom);
    assert.ok(made <= small.limits.filesMax && made > 180, `${made}`);
    const filesLimit = { what: "files", limit: 200, setting: "workspace.files_max" } as const;
    const refused = await full.write("outputs/b.txt", "one more");
    assert.deepEqual([refused.ok, !refused.ok && refused.failure.code], [false, "quota_exceeded"]);
    assert.deepEqual(!refused.ok && Object.keys(refused.failure.params), ["path", ...Object.keys(filesLimit)]);
    await write(other, "outputs/b.txt", "room enough");
    unwrap(await full.empty("temp"));
    await write(full, "outputs/b.txt", "room again");
  }),
);

function fill(path: string): void {
  for (;;) appendFileSync(path, Buffer.alloc(64 * 1024, 1));
}

const noRoom = (error: unknown) => error instanceof Error && "code" in error && error.code === "ENOSPC";

test(
  "images are there again after a restart and after a kill, also where folders are set by now; what is left of a write is gone [W4][W11]",
  withImages(async (t) => {
    let ground = await openGround(t, small);
    const row = await ground.start("kept");
    await write(ground.workspaces.ofConversation(row), "outputs/a.txt", "kept");
    ground = await ground.restart({ disk: "folder" });
    assert.equal(await textOf(ground.workspaces.ofConversation(row), "outputs/a.txt"), "kept");
    await ground.start("plain");
    assert.deepEqual(mountsBelow(ground.data).sort(), ["mounted/workspace/kept", "workspace/kept"]);
    writeFileSync(ground.path("mounted/workspace/kept/staging/0123"), "half a file");
    ground = await ground.restart();
    // As a process leaves it that is killed: nothing is unmounted.
    const [image, place] = [ground.path("images/workspace/kept"), ground.path("mounted/workspace/kept")];
    execFileSync("mkdir", ["-p", place, ground.path("workspace/kept")]);
    execFileSync("mount", ["-o", "loop", image, place]);
    execFileSync("mount", ["--bind", `${place}/files`, ground.path("workspace/kept")]);
    ground = await ground.restart();
    assert.equal(await textOf(ground.workspaces.ofConversation(row), "outputs/a.txt"), "kept");
    assert.deepEqual(mountsBelow(ground.data).sort(), ["mounted/workspace/kept", "workspace/kept"]);
    assert.deepEqual(readdirSync(ground.path("mounted/workspace/kept/staging")), []);
    assertNoHostPath(ground);
  }),
);

test(
  "a conversation that had a folder before keeps it; its branch is an image, with all its files [L9][W1]",
  withImages(async (t) => {
    let ground = await openGround(t);
    const row = await ground.start("old");
    await write(ground.workspaces.ofConversation(row), "uploads/a.txt", "from before");
    ground = await ground.restart(small);
    const old = ground.workspaces.ofConversation(row);
    await write(old, "outputs/b.txt", "from now");
    assert.deepEqual(mountsBelow(ground.data), []);
    const branch = await ground.start("branch", { bare: true });
    assert.deepEqual(unwrap(await ground.workspaces.copy(row, branch)), { files: 2, leftOut: [] });
    const copied = { "uploads/a.txt": "from before", "outputs/b.txt": "from now" };
    assert.deepEqual(filesOf(ground.path("workspace/branch")), copied);
    assert.deepEqual(mountsBelow(ground.data).sort(), ["mounted/workspace/branch", "workspace/branch"]);
  }),
);

test(
  "an image goes to the trash as a whole and comes back, beside what has been made since, of either kind [W10]",
  withImages(async (t) => {
    let ground = await openGround(t, small);
    const row = await ground.start("monthly");
    const clean = async () => {
      ground.clock.move(8 * dayMs);
      return ground.workspaces.clean({ unusedMs: 7 * dayMs });
    };
    const restore = async () => {
      const [entry] = await ground.workspaces.trash(alice);
      return unwrap(await ground.workspaces.restore(alice, entry?.id ?? ""));
    };
    const files = () => ground.workspaces.ofConversation(row);
    await write(files(), "outputs/a.txt", "first");
    await write(files(), "temp/x", "scratch");
    assert.deepEqual(await clean(), { workspaces: 1, bytes: 5, skipped: 0 });
    assert.deepEqual([mountsBelow(ground.data), readdirSync(ground.path("images/workspace"))], [[], []]);
    assert.deepEqual(await restore(), { conversation: "monthly", files: 1, beside: [] });
    assert.equal(await textOf(files(), "outputs/a.txt"), "first");

    assert.equal((await clean()).workspaces, 1);
    await write(files(), "outputs/a.txt", "second");
    const { beside } = await restore();
    const [place = ""] = beside;
    assert.match(place, /^outputs\/restored-[0-9a-f]{8}$/);
    assert.deepEqual(filesOf(ground.path("workspace/monthly")), {
      "outputs/a.txt": "second",
      [`${place}/a.txt`]: "first",
    });
    assert.deepEqual(readdirSync(ground.path("images/trash")), []);

    assert.equal((await clean()).workspaces, 1);
    ground = await ground.restart({ disk: "folder" });
    await write(files(), "uploads/c.txt", "in a folder");
    assert.deepEqual(mountsBelow(ground.data), []);
    assert.deepEqual((await restore()).beside, []);
    assert.deepEqual(Object.keys(filesOf(ground.path("workspace/monthly"))).sort(), [
      "outputs/a.txt",
      `${place}/a.txt`,
      "uploads/c.txt",
    ]);
    assertNoHostPath(ground);
  }),
);

test(
  "a deleted conversation's image is gone at once with all that is in it, whatever a program made of it [S6][X4]",
  withImages(async (t) => {
    const ground = await openGround(t, { ...small, limits: { ...small.limits, filesMax: 5000 } });
    const row = await ground.start("doomed");
    const folder = ground.path("workspace/doomed/temp");
    for (let number = 0; number < 3000; number += 1) writeFileSync(`${folder}/f${number}`, "");
    execFileSync("/usr/bin/chattr", ["+i", `${folder}/f1`]);
    const fd = openSync(`${folder}/f2`, "w");
    t.after(() => closeSync(fd));
    await ground.storage.append({ number: row.number, events: [], with: { deleted: { at: ground.clock.now() } } });
    assert.deepEqual(await ground.workspaces.sweep(), { left: 0 });
    assert.deepEqual(
      [mountsBelow(ground.data), readdirSync(ground.path("images/workspace")), readdirSync(ground.path("workspace"))],
      [[], [], []],
    );
    assert.equal(await ground.storage.findWorkspace(row.number), undefined);
  }),
);
