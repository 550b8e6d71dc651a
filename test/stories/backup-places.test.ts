import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { makeBackup } from "../../src/backup.ts";
import { folderOf, restore, treeOf } from "../world/backups.ts";
import { withImages } from "../world/images.ts";
import { startYard, type TestYard } from "../world/yard.ts";

const needsRoot = {
  skip: process.getuid?.() === 0 ? false : "needs root to mount a small disk, or to become another user",
};

test(
  "a full disk ends a backup with that reason, on either side, and leaves nothing behind [Q3][Q2]",
  needsRoot,
  async (t) => {
    const folder = folderOf(t);
    const [target, data] = [smallDisk(t), smallDisk(t)];
    await using yard = await startYard({ data });
    await yard.client.call("createConversation", { body: { id: "c" } });
    await yard.client.upload("c", "a.txt", Buffer.alloc(6_000_000, "a line\n"));

    const fill = (disk: string, leaves: number) => {
      const { bavail, bsize } = statfsSync(disk);
      writeFileSync(join(disk, "ballast"), Buffer.alloc(bavail * bsize - leaves));
    };
    fill(target, 2_000_000);
    assert.deepEqual(await backUp(yard, join(target, "b.tar")), ["backup_failed", { why: "full" }]);
    assert.deepEqual(readdirSync(target), ["ballast"]);

    // A large file is copied beside the others before it is sent; there is no room for that.
    fill(data, 1_000_000);
    assert.deepEqual(await backUp(yard, join(folder, "b.tar")), ["backup_failed", { why: "full" }]);
    assert.deepEqual(readdirSync(folder), []);
    assert.deepEqual(readdirSync(join(data, "staging")), []);
    assert.equal((await yard.client.call("healthDetailed", {})).ok, true);
  },
);

test("a backup for which the server cannot read a folder of its own is told so, and leaves nothing behind [Q3][Q2]", async (t) => {
  const folder = folderOf(t);
  const data = join(folder, "data");
  await using yard = await startYard({ data });
  await yard.client.call("createConversation", { body: { id: "c" } });
  // A link to itself in place of a folder of ours: nobody can open it, root included.
  symlinkSync("kept", join(data, "kept"));
  const before = readdirSync(folder);
  assert.deepEqual(await backUp(yard, join(folder, "b.tar")), ["backup_failed", { why: "io" }]);
  assert.deepEqual(readdirSync(folder), before);
  rmSync(join(data, "kept"));
  assert.deepEqual(await backUp(yard, join(folder, "b.tar")), ["ok"]);
  // Nobody writes there, root included.
  assert.deepEqual(await backUp(yard, "/sys/b.tar"), ["backup_failed", { why: "read_only" }]);
});

test(
  "what a program made unreadable for the server is not in a backup, and is named and counted [Q3]",
  needsRoot,
  async (t) => {
    const folder = folderOf(t);
    const done = asNobody(folder, "locked-backup.ts");
    const path = join(folder, "b.tar");
    const bytes = statSync(path, { throwIfNoEntry: false })?.size;
    assert.deepEqual(done.stderr === "" ? JSON.parse(done.stdout) : done.stderr, {
      ok: true,
      value: {
        ...{ bytes, conversations: 1, files: 4, changing: [], hasKey: false },
        ...{ leftOut: ["workspace/c/outputs/locked.txt", "workspace/c/…", "workspace/c/…"], leftOutCount: 3 },
      },
    });
    assert.ok((await restore(path, join(folder, "data"))).ok);
    const outputs = Object.entries(treeOf(join(folder, "data"))).filter(([name]) => name.includes("/outputs/"));
    assert.deepEqual(
      outputs.map(([name, facts]) => `${name} ${facts.split(" ", 2).join(" ")}`),
      [
        "workspace/c/outputs/locked folder 0",
        "workspace/c/outputs/named folder 400",
        "workspace/c/outputs/own.txt file 644",
      ],
    );
  },
);

test(
  "files and folders without any rights, in a backup that root made, are restored by an ordinary user as they were [Q3]",
  needsRoot,
  async (t) => {
    const folder = folderOf(t);
    const [path, from, to] = [join(folder, "b.tar"), join(folder, "from"), join(folder, "to")];
    {
      await using yard = await startYard({ data: from });
      await yard.client.call("createConversation", { body: { id: "c" } });
      const outputs = join(from, "workspace", "c", "outputs");
      mkdirSync(join(outputs, "locked"));
      for (const name of ["locked/f.txt", "only-written.txt"]) writeFileSync(join(outputs, name), "hidden");
      chmodSync(join(outputs, "only-written.txt"), 0o200);
      for (const name of ["locked/f.txt", "locked"]) chmodSync(join(outputs, name), 0o000);
      assert.deepEqual(await backUp(yard, path), ["ok"]);
    }
    chmodSync(path, 0o644);
    const done = asNobody(folder, "locked-restore.ts", path, to);
    assert.equal(done.stderr, "");
    assert.equal(JSON.parse(done.stdout).ok, true, done.stdout);
    const filesOf = (data: string) => Object.entries(treeOf(data)).filter(([name]) => name.includes("/outputs"));
    assert.deepEqual(filesOf(to), filesOf(from));
  },
);

/** Root may read everything: what an ordinary user would see is seen by a script that becomes nobody. */
function asNobody(folder: string, script: string, ...args: string[]) {
  chmodSync(folder, 0o777);
  const path = join(import.meta.dirname, "../world", script);
  return spawnSync(process.execPath, [path, ...args], { encoding: "utf8", env: { TMPDIR: folder } });
}

test("a restore that finds no room changes nothing [Q3][Q2]", needsRoot, async (t) => {
  const folder = folderOf(t);
  const path = join(folder, "b.tar");
  {
    await using yard = await startYard();
    await yard.client.call("createConversation", { body: { id: "c" } });
    await yard.client.upload("c", "a.txt", Buffer.alloc(30_000_000, "a line\n"));
    assert.equal((await backUp(yard, path))[0], "ok");
  }
  // A folder that is there, and in which nobody makes another, root included.
  const barred = await restore(path, folderOf(t), { filesDir: "/sys/kernel", replaces: true });
  assert.deepEqual(barred.ok || [barred.failure.code, barred.failure.params], ["restore_failed", { why: "read_only" }]);
  const data = smallDisk(t);
  writeFileSync(join(data, "mine"), "mine");
  const restored = await restore(path, data, { replaces: true });
  assert.deepEqual(restored.ok ? "ok" : [restored.failure.code, restored.failure.params], [
    "restore_failed",
    { why: "full" },
  ]);
  assert.deepEqual(
    readdirSync(data).filter((name) => !name.startsWith("owner.lock")),
    ["mine"],
  );
  assert.equal(readFileSync(join(data, "mine"), "utf8"), "mine");
});

test(
  "files that lie in images are backed up as files, mounted or not, and restored as folders [Q3][X4]",
  withImages(async (t) => {
    const folder = folderOf(t);
    const data = join(folder, "data");
    const env = { AGENTYARD_SANDBOX_DISK: "image", AGENTYARD_WORKSPACE_BYTES_MAX: `${16 * 1024 ** 2}` };
    const upload = (yard: TestYard, id: string) => yard.client.upload(id, "a.txt", Buffer.from(`of ${id} 一`));
    {
      await using yard = await startYard({ data, env });
      await yard.client.call("createConversation", { body: { id: "before" } });
      assert.ok((await upload(yard, "before")).ok);
    }
    await using yard = await startYard({ data, env });
    await yard.client.call("createConversation", { body: { id: "now" } });
    assert.ok((await upload(yard, "now")).ok);
    const path = join(folder, "b.tar");
    assert.equal((await backUp(yard, path))[0], "ok");
    const copy = join(folder, "copy");
    assert.ok((await restore(path, copy)).ok);
    const tree = treeOf(copy);
    for (const id of ["before", "now"]) {
      assert.match(tree[`workspace/${id}/uploads/a.txt`] ?? "", /^file 644 /);
      assert.equal(readFileSync(join(copy, "workspace", id, "uploads", "a.txt"), "utf8"), `of ${id} 一`);
    }
    await using again = await startYard({ data: copy });
    assert.equal((await again.client.download("now", "uploads/a.txt")).ok, true);
  }),
);

async function backUp(yard: TestYard, path: string): Promise<unknown[]> {
  const made = await makeBackup({ fetch: yard.fetch, path, includesKey: false });
  return made.ok ? ["ok"] : [made.failure.code, made.failure.params];
}

/** A disk of 24 MB. */
function smallDisk(t: TestContext): string {
  const place = mkdtempSync(join(tmpdir(), "small-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=24m", "tmpfs", place]);
  t.after(() => {
    execFileSync("umount", ["-l", place]);
    rmdirSync(place);
  });
  return place;
}
