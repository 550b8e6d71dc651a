import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { pack } from "tar-stream";
import { makeBackup } from "../../src/backup.ts";
import type { Result } from "../../src/base/result.ts";
import { findUnfinished } from "../../src/data-place.ts";
import { takeOwnership } from "../../src/storage/sqlite/owner-lock.ts";
import { folderOf, restore, treeOf } from "../world/backups.ts";
import { makeHome, typedHere } from "../world/program.ts";
import { startYard } from "../world/yard.ts";

test("a backup that was cut off anywhere is refused, and nothing is changed [Q3]", async (t) => {
  const { folder, path, gzip } = await backedUp(t);
  const whole = readFileSync(path);
  const data = join(folder, "data");
  for (const share of [0, 0.001, 0.1, 0.5, 0.9, 0.97]) {
    writeFileSync(join(folder, "cut.tar"), whole.subarray(0, Math.floor(whole.length * share)));
    const code = codeOf(await restore(join(folder, "cut.tar"), data));
    assert.equal(code, "backup_broken", `${share} of it`);
    const zipped = readFileSync(gzip);
    writeFileSync(join(folder, "cut.tgz"), zipped.subarray(0, Math.floor(zipped.length * share)));
    assert.equal(codeOf(await restore(join(folder, "cut.tgz"), data)), "backup_broken", `${share} of it, compressed`);
  }
  assert.equal(existsSync(data), false);
});

test("a backup in which one byte is another is refused, whichever it is, and nothing is changed [Q3]", async (t) => {
  const { folder, path } = await backedUp(t);
  const whole = readFileSync(path);
  const data = join(folder, "data");
  mkdirSync(data);
  const names = whole.toString("latin1");
  // In the head, the database, the name and the content of a file, the list, and its last line.
  const places = ["agentyard", "AYRD", "uploads/a.txt", "some content", "manifest.jsonl", '"sha256"', '"end"']
    .map((text) => names.indexOf(text))
    .filter((at) => at > 0);
  assert.ok(places.length >= 5);
  for (const at of [...places, Math.floor(whole.length / 3), Math.floor(whole.length / 2)]) {
    const changed = Buffer.from(whole);
    changed[at] = (changed[at] ?? 0) ^ 1;
    writeFileSync(join(folder, "changed.tar"), changed);
    assert.equal(codeOf(await restore(join(folder, "changed.tar"), data)), "backup_broken", `byte ${at}`);
    assert.deepEqual(
      readdirSync(data).filter((name) => !name.startsWith("owner.lock")),
      [],
      `byte ${at}`,
    );
  }
});

test("what is no backup, or one of a newer version, is said to be that [Q3]", async (t) => {
  const folder = folderOf(t);
  const path = join(folder, "x.tar");
  const tryTo = async (from = path) => {
    const restored = await restore(from, join(folder, "data"));
    return restored.ok ? restored : [restored.failure.code, restored.failure.params];
  };
  assert.deepEqual(await tryTo(), ["backup_broken", { why: "no_file" }]);
  assert.deepEqual(await tryTo(folder), ["backup_broken", { why: "unreadable" }]);
  writeFileSync(path, "no archive at all ".repeat(100));
  assert.deepEqual(await tryTo(), ["backup_broken", { why: "no_backup" }]);
  writeFileSync(path, await tarOf([{ name: "a.txt", text: "a" }]));
  assert.deepEqual(await tryTo(), ["backup_broken", { why: "no_backup" }]);
  writeFileSync(path, await listedTarOf([head, { name: "sessions.db", text: "no database" }]));
  assert.deepEqual(await tryTo(), ["backup_broken", { why: "database" }]);
  writeFileSync(path, gzipSync(await tarOf([{ name: "agentyard-backup.json", text: '{"format":99}' }])));
  assert.deepEqual(await tryTo(), ["backup_newer", { found: 99, known: 1 }]);
  assert.equal(existsSync(join(folder, "data")), false);
});

test("an archive that was made to reach outside is refused, whatever its names and links say [Q3][Q1]", async (t) => {
  const folder = folderOf(t);
  const path = join(folder, "evil.tar");
  const outside = join(folder, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "shadow"), "secret", { mode: 0o600 });
  const before = statSync(join(outside, "shadow")).mtimeMs;
  const link = { name: "workspace/c/l", target: outside };
  const raw = (bytes: string) => Buffer.from(bytes, "latin1").toString("base64");
  const evil: Record<string, Planted[]> = {
    "a path that climbs": [{ name: "../outside/a", text: "a" }],
    "one that climbs inside": [{ name: "workspace/../../outside/a", text: "a" }],
    "a whole path": [{ name: join(outside, "a"), text: "a" }],
    "a file of ours": [{ name: "owner.lock", text: "a" }],
    "an empty name": [{ name: "workspace//a", text: "a" }],
    "a file behind a link": [link, { name: "workspace/c/l/a", text: "a" }],
    "bytes that climb": [{ name: "workspace/x", text: "a", raw: raw("workspace/../../outside/a") }],
    "a folder that is given its mode where a link leads": [
      link,
      { name: "workspace/c/z/", isFolder: true, raw: raw("workspace/c/l/shadow") },
    ],
    "a path that climbs, beside bytes that do not": [
      { name: "workspace/../../../outside/x", text: "a", raw: raw("workspace/x") },
    ],
    "bytes that are another name": [{ name: "workspace/c/a", text: "a", raw: raw("workspace/c/b\xe4") }],
    "the folder of a conversation as a link": [{ name: "workspace/c", target: outside }],
    "earlier contents as a link": [{ name: "kept/workspace/c/contents", target: outside }],
    "the key as a link": [{ name: "key", target: join(outside, "shadow") }],
    "the database as a link": [{ name: "sessions.db", target: join(outside, "shadow") }],
    "the key as a folder": [{ name: "key/", isFolder: true }],
  };
  for (const [what, entries] of Object.entries(evil)) {
    writeFileSync(path, await listedTarOf([head, ...entries]));
    const restored = await restore(path, join(folder, "data"));
    assert.deepEqual(restored.ok || restored.failure.params, { why: "unsafe" }, what);
    const { mode, mtimeMs } = statSync(join(outside, "shadow"));
    assert.deepEqual([readdirSync(outside), mode & 0o777, mtimeMs], [["shadow"], 0o600, before], what);
    assert.equal(existsSync(join(folder, "data")), false, what);
  }
});

test("a directory that holds something is left alone, or kept under a name that is said [Q3]", async (t) => {
  const { folder, path } = await backedUp(t);
  const data = join(folder, "data");
  mkdirSync(join(data, "workspace", "old"), { recursive: true });
  writeFileSync(join(data, "workspace", "old", "a"), "old");
  writeFileSync(join(data, "sessions.db"), "old database");
  assert.equal(codeOf(await restore(path, data)), "restore_not_empty");
  assert.equal(readFileSync(join(data, "sessions.db"), "utf8"), "old database");

  const replaced = await restore(path, data, { replaces: true });
  assert.ok(replaced.ok);
  const { keptAt = "" } = replaced.value;
  assert.match(keptAt, /^.*\/data\/replaced-\d{8}-\d{6}$/);
  assert.equal(readFileSync(join(keptAt, "workspace", "old", "a"), "utf8"), "old");
  assert.equal(readFileSync(join(keptAt, "sessions.db"), "utf8"), "old database");
  assert.equal(existsSync(join(data, "workspace", "old")), false);
  assert.equal(readFileSync(join(data, "workspace", "c", "uploads", "a.txt"), "utf8"), content);
});

test("a restore that fails in the middle puts what was there back, and a second one is not hindered [Q3]", async (t) => {
  const { folder, path } = await backedUp(t);
  const data = join(folder, "data");
  mkdirSync(join(data, "workspace", "old"), { recursive: true });
  writeFileSync(join(data, "workspace", "old", "a"), "old");
  writeFileSync(join(data, "sessions.db"), "old database");
  // Nothing can be made below a file: the database is the last to be moved in, and cannot be.
  writeFileSync(join(folder, "in-the-way"), "");
  const before = treeOf(data);
  const sessionDbPath = join(folder, "in-the-way", "my.db");
  const failed = await restore(path, data, { replaces: true, sessionDbPath });
  assert.deepEqual(failed.ok || failed.failure.params, { why: "read_only" });
  assert.deepEqual(treeOf(data), before);
  assert.equal(readFileSync(join(data, "sessions.db"), "utf8"), "old database");
  assert.deepEqual(namesIn(data), ["sessions.db", "workspace"]);
  assert.ok((await restore(path, data, { replaces: true })).ok);
});

test("a yard does not begin empty where a restore was killed between the old and the new; it says what to do [Q3]", async (t) => {
  const { path } = await backedUp(t);
  const home = makeHome(t);
  const data = join(home.folder, "data");
  const kept = join(data, "replaced-20260101-000000");
  mkdirSync(join(data, "restoring-abc"), { recursive: true });
  mkdirSync(kept);
  const { code, errors } = await home.start("serve", "--port", "0").ended;
  assert.deepEqual(
    [code, errors],
    [
      1,
      `✗ A restore into ${data} broke off before it was done. Run it again: ${typedHere} restore FILE --replace. What was there before lies in ${kept}. To begin empty instead, delete restoring-… there.\n`,
    ],
  );
  const again = await home.start("restore", path, "--replace").ended;
  assert.deepEqual([again.code, again.errors], [0, ""]);
  assert.deepEqual([existsSync(join(data, "restoring-abc")), existsSync(kept)], [false, true]);
});

/** Without what no user put there. */
function namesIn(data: string): string[] {
  return readdirSync(data).filter((name) => !name.startsWith("owner.lock"));
}

test("folders that were links do not lead a restore away [Q3]", async (t) => {
  const { folder, path } = await backedUp(t);
  const data = join(folder, "data");
  mkdirSync(join(folder, "away"));
  mkdirSync(data);
  symlinkSync(join(folder, "away"), join(data, "workspace"));
  assert.equal(codeOf(await restore(path, data)), "restore_not_empty");
  assert.ok((await restore(path, data, { replaces: true })).ok);
  assert.deepEqual(readdirSync(join(folder, "away")), []);
  assert.ok(Object.keys(treeOf(data)).includes("workspace/c/uploads/a.txt"));
});

const content = "some content ".repeat(100);

/** A yard with one conversation and one file, backed up both ways. */
async function backedUp(t: TestContext) {
  const folder = folderOf(t);
  const [path, gzip] = [join(folder, "b.tar"), join(folder, "b.tar.gz")];
  await using yard = await startYard();
  await yard.client.call("createConversation", { body: { id: "c" } });
  await yard.client.upload("c", "a.txt", Buffer.from(content));
  for (const each of [path, gzip])
    assert.ok((await makeBackup({ fetch: yard.fetch, path: each, includesKey: false })).ok);
  assert.ok(gunzipSync(readFileSync(gzip)).length > 1024);
  return { folder, path, gzip };
}

const head: Planted = {
  name: "agentyard-backup.json",
  text: JSON.stringify({ format: 1, agentyard: "", protocol: "1", at: 1, withKey: false }),
};

type Planted = {
  readonly name: string;
  readonly text?: string;
  readonly target?: string;
  readonly raw?: string;
  readonly isFolder?: boolean;
};

async function tarOf(entries: readonly Planted[]): Promise<Buffer> {
  const tar = pack();
  for (const { name, text = "", target, raw, isFolder = false } of entries) {
    const pax = { "AGENTYARD.mtime": "1", ...(raw === undefined ? {} : { "AGENTYARD.path": raw }) };
    if (isFolder) tar.entry({ name, pax, type: "directory", mode: 0o777 });
    else if (target !== undefined) tar.entry({ name, pax, type: "symlink", linkname: target, mode: 0o777 });
    else tar.entry({ name, pax, size: Buffer.byteLength(text), mode: 0o600 }, text);
  }
  tar.finalize();
  return buffer(tar);
}

/** As `tarOf`, and with the list at the end that makes a backup of it. */
async function listedTarOf(entries: readonly Planted[]): Promise<Buffer> {
  const lines = entries.map(({ name, text = "", target, raw, isFolder = false }) => {
    const named = { path: name.replace(/\/$/, ""), raw };
    if (isFolder) return { ...named, type: "folder", mode: 0o777, mtime: 1, bytes: 0 };
    if (target !== undefined) return { ...named, type: "link", mode: 0o777, mtime: 1, bytes: 0, target };
    const hash = createHash("sha256").update(text).digest("hex");
    return { ...named, type: "file", mode: 0o600, mtime: 1, bytes: Buffer.byteLength(text), hash };
  });
  const end = { conversations: 0, files: 0, bytes: 0, leftOut: [], leftOutCount: 0, changing: [] };
  const list = [...lines, { end }].map((line) => `${JSON.stringify(line)}\n`).join("");
  return tarOf([...entries, { name: "manifest.jsonl", text: list }]);
}

function codeOf(result: Result<unknown, { code: string }>): string {
  return result.ok ? "ok" : result.failure.code;
}

test("a directory that a process uses is left alone by a restore [Q3]", async (t) => {
  const folder = folderOf(t);
  const data = join(folder, "data");
  const taken = takeOwnership(data, { pid: process.pid, startedAt: 1, socket: "s", protocol: "1" });
  assert.ok(taken.ok);
  const before = readdirSync(data);
  const restored = await restore(join(folder, "none.tar"), data, { replaces: true });
  assert.equal(restored.ok ? "" : restored.failure.code, "data_in_use");
  assert.deepEqual(readdirSync(data), before);
  taken.value.release();
  const again = await restore(join(folder, "none.tar"), data, { replaces: true });
  assert.equal(again.ok ? "" : again.failure.code, "backup_broken");
});

/** `npm run torture`: after every step. Else after every third and around the end. */
const isEvery = process.env.AGENTYARD_RESTORE_KILLS === "every";

test("wherever a restore is killed, the next start finds the old yard or the new one, whole, or says that neither is; nothing old is lost [Q2][Q3]", async (t) => {
  const folder = folderOf(t);
  const [data, states, path] = [join(folder, "data"), join(folder, "states"), join(folder, "new.tar")];
  {
    await using yard = await startYard();
    await fillYard(yard, "new");
    assert.ok((await makeBackup({ fetch: yard.fetch, path, includesKey: false })).ok);
  }
  {
    await using yard = await startYard({ data });
    await fillYard(yard, "old");
  }
  // What secrets are sealed under, and files of earlier turns: without them the old yard is not whole.
  writeFileSync(join(data, "key"), "a key");
  mkdirSync(join(data, "kept", "old"), { recursive: true });
  writeFileSync(join(data, "kept", "old", "1"), "an earlier state");
  mkdirSync(states);
  const child = spawnSync(
    process.execPath,
    [join(import.meta.dirname, "../crashes/restore-child.ts"), path, data, states],
    {
      ...{ encoding: "utf8", stdio: ["ignore", "inherit", "inherit"] },
    },
  );
  assert.equal(child.status, 0);
  const steps = readdirSync(states)
    .map(Number)
    .sort((one, other) => one - other);
  assert.ok(steps.length > 15, `only ${steps.length} steps`);
  const found: string[] = [];
  for (const step of steps.filter((_, index) => isEvery || index % 3 === 0 || index > steps.length - 3)) {
    const place = join(states, String(step));
    const label = `killed after step ${step} of ${steps.length}`;
    assert.equal(
      globSync("**/old/uploads/old.txt", { cwd: place }).length,
      1,
      `${label}: the old files are there once`,
    );
    const seen = await openAfter(place, label);
    if (seen === "neither") {
      const again = await restore(path, place, { replaces: true });
      assert.ok(again.ok, `${label}: ${JSON.stringify(again)}`);
      assert.equal(await openAfter(place, label), "new");
    }
    if (found.at(-1) !== seen) found.push(seen);
  }
  assert.deepEqual(found, ["old", "neither", "new"]);
});

type Yard = Awaited<ReturnType<typeof startYard>>;

async function fillYard({ client }: Yard, name: string): Promise<void> {
  await client.call("createConversation", { body: { id: name } });
  await client.upload(name, `${name}.txt`, Buffer.from(name));
}

/** What a start finds: one yard with its file, or that a restore is not done. */
async function openAfter(data: string, label: string): Promise<string> {
  if (findUnfinished({ dataDir: data, sessionDbPath: join(data, "sessions.db") }) !== undefined) return "neither";
  assert.ok(existsSync(join(data, "sessions.db")), `${label}: an empty yard would begin`);
  await using yard = await startYard({ data });
  const listed = await yard.client.call("listConversations", {});
  const ids = listed.ok ? listed.value.items.map(({ id }) => id) : [];
  assert.equal(ids.length, 1, label);
  const [id = ""] = ids;
  const besides = ["key", join("kept", "old", "1")].filter((name) => existsSync(join(data, name)));
  assert.equal(besides.length, id === "old" ? 2 : 0, `${label}: ${id} with ${besides}`);
  assert.equal(readFileSync(join(data, "workspace", id, "uploads", `${id}.txt`), "utf8"), id, label);
  return id;
}
