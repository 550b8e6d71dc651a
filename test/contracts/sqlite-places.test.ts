import assert from "node:assert/strict";
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import type { Result } from "../../src/base/result.ts";
import type { Failure } from "../../src/protocol/failure.ts";
import { migrate, migrations, readVersion } from "../../src/storage/sqlite/migrations.ts";
import { type OwnerInfo, readOwner, takeOwnership } from "../../src/storage/sqlite/owner-lock.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import { folderWith } from "../world/folder.ts";
import { asToday, fixtureVersion, readContents } from "./fixture.ts";
import { startChild } from "./sqlite-child.ts";
import { alice, facts, idOf, makeConversation, morning, readAll, stored, unwrap } from "./storage-place.ts";

// The files of a database: who may read them, what is left of them, and what becomes of those that are not whole.

const open = (path: string) => openSqlite({ path, clock: systemClock });
const modeOf = (path: string) => statSync(path).mode & 0o777;

/** As doctor and the commands tell it. */
const broken = (why: string, said?: string) => ({
  ...{ ok: false, failure: { code: "storage_broken", params: said === undefined ? { why } : { why, said } } },
});
const told = (answer: { ok: boolean; failure?: { code: string; params: object } }) =>
  answer.ok ? answer : { ok: false, failure: { code: answer.failure?.code, params: answer.failure?.params } };

test("the database and its folder are for their user alone, and whoever closes it leaves one file with all in it [Q1][L2]", async (t) => {
  const folder = join(folderWith(t, {}), "new", "data");
  const path = join(folder, "sessions.db");
  const storage = unwrap(open(path));
  const number = await makeConversation(storage);
  unwrap(await storage.append({ number, events: facts("a") }));
  const files = ["", "-wal", ".reserve"];
  assert.deepEqual([modeOf(folder), ...files.map((end) => modeOf(`${path}${end}`))], [0o700, 0o600, 0o600, 0o600]);
  await storage.close();
  assert.deepEqual(readdirSync(folder).sort(), ["sessions.db", "sessions.db.reserve"]);
  assert.equal(statSync(`${path}.reserve`).size, 1024 * 1024);

  const lock = takeOwnership(join(folder, "owned"), { pid: 1, startedAt: 1, socket: "s", protocol: "1" });
  assert.ok(lock.ok);
  lock.value.tellAddress("http://localhost:1");
  assert.deepEqual(
    [
      readOwner(join(folder, "owned"))?.address,
      modeOf(join(folder, "owned")),
      modeOf(join(folder, "owned/owner.json")),
    ],
    ["http://localhost:1", 0o700, 0o600],
  );
  lock.value.release();
});

test("once the file was taken away or replaced, nothing new is taken in, nothing is copied, and whoever asks is told [Q2][L2]", async (t) => {
  const folder = folderWith(t, {});
  const path = join(folder, "sessions.db");
  const storage = unwrap(open(path));
  t.after(() => storage.close());
  const number = await makeConversation(storage);
  renameSync(path, `${path}.away`);
  const tried = async () => [
    await storage.createConversation({ owner: alice, id: idOf("next"), at: morning, events: [] }),
    await storage.append({ number, events: facts("hi"), with: { received: "m" } }),
    await storage.copyTo(join(folder, "copy.db")),
    await storage.check(),
  ];
  const refused = Array.from({ length: 4 }, () => broken("removed"));
  assert.deepEqual((await tried()).map(told), refused);
  writeFileSync(path, "");
  assert.deepEqual((await tried()).map(told), refused);
  renameSync(`${path}.away`, path);
  unwrap(await storage.append({ number, events: facts("hi"), with: { received: "m" } }));
  assert.deepEqual(await readAll(storage, number), stored(1, "hi"));
  assert.deepEqual(readdirSync(folder).includes("copy.db"), false);
});

test("a copy that a killed upgrade left unfinished does not keep the next start from making one [L2][Q3]", (t) => {
  const folder = folderWith(t, {});
  const path = join(folder, "sessions.db");
  using database = new DatabaseSync(path);
  migrate(database, { path, from: 0 });
  const from = migrations.length;
  writeFileSync(`${path}.v${from}.bak.part`, "half of a copy");
  migrate(database, { path, from, steps: [...migrations, "DROP TABLE wake"] });
  assert.deepEqual(readdirSync(folder).sort(), ["sessions.db", `sessions.db.v${from}.bak`]);
});

test("a copy of a damaged database is no copy: it is told, and nothing is left of it [Q3][Q2]", async (t) => {
  const folder = folderWith(t, {});
  const path = join(folder, "sessions.db");
  const first = unwrap(open(path));
  await makeConversation(first);
  await first.close();
  spoil(path, "rule");
  const storage = unwrap(open(path));
  t.after(() => storage.close());
  const before = readdirSync(folder);
  const copied = await storage.copyTo(join(folder, "copy.db"));
  assert.deepEqual(causeOf(copied), ["storage_broken", "damaged"]);
  assert.deepEqual(readdirSync(folder), before);
});

function causeOf(answer: Result<unknown, Failure>): unknown {
  if (answer.ok) return "ok";
  const { code, params } = answer.failure;
  return [code, "why" in params ? params.why : undefined];
}

/** Overwrites the first page of a table. */
function spoil(path: string, table: string): void {
  using database = new DatabaseSync(path, { readOnly: true });
  const page = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(table)?.rootpage;
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(4096, 0xee), 0, 4096, (Number(page) - 1) * 4096);
  closeSync(file);
}

test("a data directory has one owner, and a second process is told who [P3]", async (t) => {
  const directory = folderWith(t, {});
  const [first, second] = [startChild(t, "own", directory), startChild(t, "own", directory)];
  for (const child of [first, second]) assert.equal(await child.line(), "ready");
  first.tell();
  assert.equal(await first.line(), "owner");
  second.tell();
  assert.equal(await second.line(), `owned by ${first.pid}`);
  assert.deepEqual(readOwner(directory), infoOf(first.pid));
  first.tell();
  assert.equal(await first.line(), "released");
  assert.equal(readOwner(directory), undefined);
  second.tell();
  assert.equal(await second.line(), "owner");
});

test("one process cannot own a directory twice, and can own it again after it let go [P3]", (t) => {
  const directory = join(folderWith(t, {}), "not", "there", "yet");
  const lock = unwrapLock(directory);
  const again = takeOwnership(directory, infoOf(2));
  assert.deepEqual(again.ok || again.failure, { kind: "owned", owner: infoOf(1) });
  lock.release();
  lock.release();
  unwrapLock(directory).release();
});

test("what stands in owner.json decides nothing [P3]", (t) => {
  const directory = folderWith(t, {});
  for (const content of ["", "{", "[]", '{"pid":"x"}', JSON.stringify(infoOf(process.ppid))]) {
    writeFileSync(join(directory, "owner.json"), content);
    const lock = unwrapLock(directory);
    assert.deepEqual(readOwner(directory), infoOf(1));
    lock.release();
  }
  assert.deepEqual(readdirSync(directory), ["owner.lock"]);
});

test("a directory that cannot be used is told as a failure [P3]", (t) => {
  const directory = folderWith(t, {});
  writeFileSync(join(directory, "file"), "");
  const lock = takeOwnership(join(directory, "file"), infoOf(1));
  assert.equal(lock.ok || (lock.failure.kind === "failed" && lock.failure.failure.code), "storage_broken");
});

function infoOf(pid: number): OwnerInfo {
  return { pid, startedAt: 1, socket: "s", protocol: "1" };
}

function unwrapLock(directory: string) {
  const lock = takeOwnership(directory, infoOf(1));
  return unwrap(lock.ok ? lock : { ok: false, failure: { code: lock.failure.kind } });
}

const data = join(import.meta.dirname, "../data");
const versions = Array.from({ length: fixtureVersion }, (_, index) => index + 1);

for (const version of versions) {
  test(`everything in a database of version ${version} is read back [L2]`, async (t) => {
    const path = join(folderWith(t, {}), "sessions.db");
    copyFileSync(join(data, `sessions-v${version}.db`), path);
    const storage = unwrap(openSqlite({ path, clock: { ...systemClock, now: () => morning } }));
    t.after(() => storage.close());
    const kept = JSON.parse(readFileSync(join(data, `sessions-v${version}.json`), "utf8"));
    assert.deepEqual(await readContents(storage), asToday(kept));
    assert.equal(existsSync(`${path}.v${version}.bak`), version < fixtureVersion);
  });
}

test("a new database has the form of the newest fixture, else a migration is missing [L2]", async (t) => {
  const [path, kept] = [join(folderWith(t, {}), "sessions.db"), join(folderWith(t, {}), "kept.db")];
  await unwrap(openSqlite({ path, clock: systemClock })).close();
  // A copy: SQLite leaves files beside what it reads.
  copyFileSync(join(data, `sessions-v${fixtureVersion}.db`), kept);
  assert.deepEqual(schemaOf(path), schemaOf(kept));
});

test("a migration keeps a copy of the database before it [L2]", (t) => {
  const path = join(folderWith(t, {}), "sessions.db");
  const database = new DatabaseSync(path);
  t.after(() => database.close());
  migrate(database, { path, from: 0 });
  assert.deepEqual(readdirSync(join(path, "..")), ["sessions.db"]);
  database.exec("INSERT INTO wake VALUES (1, 2, 3)");
  const steps = [...migrations, "ALTER TABLE wake RENAME TO alarm", "ALTER TABLE alarm ADD COLUMN tone TEXT"];
  migrate(database, { path, from: migrations.length, steps });
  assert.deepEqual(
    { ...database.prepare("SELECT * FROM alarm").get() },
    { number: 1, not_before: 2, set_at: 3, tone: null },
  );
  assert.equal(unwrap(readVersion(database, steps.length)), steps.length);

  const copy = new DatabaseSync(`${path}.v${migrations.length}.bak`);
  assert.deepEqual({ ...copy.prepare("SELECT * FROM wake").get() }, { number: 1, not_before: 2, set_at: 3 });
  assert.equal(unwrap(readVersion(copy)), migrations.length);
  copy.close();
});

test("a migration that fails leaves the database as it was, and can be tried again [L2]", (t) => {
  const path = join(folderWith(t, {}), "sessions.db");
  const database = new DatabaseSync(path);
  t.after(() => database.close());
  migrate(database, { path, from: 0 });
  const from = migrations.length;
  const bad = "DROP TABLE wake; CREATE TABLE lease (already INTEGER)";
  assert.throws(() => migrate(database, { path, from, steps: [...migrations, bad] }));
  assert.equal(unwrap(readVersion(database)), from);
  database.exec("INSERT INTO wake VALUES (1, 2, 3)");
  migrate(database, { path, from, steps: [...migrations, "DROP TABLE wake"] });
  assert.deepEqual(readdirSync(join(path, "..")).sort(), ["sessions.db", `sessions.db.v${from}.bak`]);
});

function schemaOf(path: string): unknown {
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = database
    .prepare("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name")
    .all();
  database.close();
  return rows;
}
