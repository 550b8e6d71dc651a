import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { folderWith } from "../../../test/world/folder.ts";
import { openFiles } from "../../../test/world/open-files.ts";
import { systemClock } from "../../base/clock.ts";
import { OwnerId } from "../../protocol/ids.ts";
import { baseOf, seqMax } from "../checks.ts";
import { type CopiedRows, copiedTables } from "../copied-tables.ts";
import type { EncodedEvent } from "../storage.ts";
import { closeConnections, openConnections } from "./connections.ts";
import { openEvents } from "./events.ts";
import { failureOf } from "./failures.ts";
import { fillCopy } from "./fill-copy.ts";
import { lookAtDatabase } from "./look-at-database.ts";
import { lookAtRecord } from "./look-at-record.ts";
import { migrate } from "./migrations.ts";
import { readRows } from "./read-rows.ts";
import { openSqlite } from "./sqlite.ts";

const fact = (text: string): EncodedEvent => ({ type: "message.user", version: 1, at: 1, body: text });

function openLog(t: TestContext) {
  const path = join(folderWith(t, {}), "d.db");
  const opened = openConnections({ path, synchronous: "normal", busyTimeoutMs: 0 });
  assert.ok(opened.ok);
  t.after(() => closeConnections(opened.value));
  const { writer, reader } = opened.value;
  return { writer, events: openEvents(writer, reader) };
}

test("a conversation that is full takes nothing more, and none of its events becomes its neighbour's [L2]", (t) => {
  const { writer, events } = openLog(t);
  const last = { seq: seqMax, ...fact("last") };
  writer
    .prepare("INSERT INTO event (id, type, v, at, body) VALUES (?, 'message.user', 1, 1, 'before')")
    .run(baseOf(1) + seqMax - 1);
  assert.throws(() => events.append(1, [fact("a"), fact("b")]), /fewer than 2\^24/);
  assert.equal(events.append(1, [last]), seqMax);
  assert.throws(() => events.append(1, [fact("more")]), /fewer than 2\^24/);
  assert.equal(events.append(2, [fact("first")]), 1);
  assert.deepEqual(events.read(1, { after: seqMax - 1, limit: 9 }), [last]);
  assert.deepEqual(events.readBack(1, { before: 2 ** 24, limit: 1 }), [last]);
  assert.deepEqual([events.head(1), events.head(2), events.head(3)], [seqMax, 1, 0]);
  assert.deepEqual(events.readBack(2, { before: 9, limit: 9 }), [{ seq: 1, ...fact("first") }]);
  events.remove(1);
  assert.deepEqual([events.head(1), events.head(2)], [0, 1]);
});

/** As Node throws what SQLite, or the system, said. */
function toldAs(about: { readonly errcode: number } | { readonly code: string; readonly syscall: string }): unknown {
  const failure = failureOf(Object.assign(new Error("no"), about));
  if (failure === undefined) return undefined;
  return "why" in failure.params ? `${failure.code} ${failure.params.why}` : failure.code;
}

test("what SQLite says becomes a failure with its cause, and what only a mistake of ours can be none [Q2][P4]", () => {
  const said = {
    storage_busy: [5, 6, 15, 261],
    storage_full: [13, 778, 4874],
    storage_read_only: [8, 14],
    "storage_broken removed": [1032],
    // A disk that fails when it is read, and when it is synced.
    "storage_broken io": [10, 266, 1034],
    "storage_broken damaged": [11, 26, 267],
  };
  for (const [failure, codes] of Object.entries(said))
    for (const errcode of codes) assert.equal(toldAs({ errcode }), failure, String(errcode));
  assert.equal(toldAs({ errcode: 1 }), undefined, "a statement that is wrong");
});

test("what the system says to the file of the database becomes one, too [Q2][P4]", () => {
  const said = {
    storage_full: ["ENOSPC", "EDQUOT", "EFBIG"],
    storage_read_only: ["EACCES", "EPERM", "EROFS"],
    "storage_broken place": ["ENOTDIR", "EEXIST", "ELOOP", "ENAMETOOLONG"],
    "storage_broken io": ["EIO"],
  };
  for (const [failure, codes] of Object.entries(said))
    for (const code of codes) assert.equal(toldAs({ code, syscall: "open" }), failure, code);
});

const memory = { owner: OwnerId.parse("alice"), id: "m", fact: "tea", conversation: undefined, at: 1 };

test("who ends while another program has the database locked ends all the same, holds nothing, and has lost nothing [Q2][L2][P3]", async (t) => {
  const path = join(folderWith(t, {}), "d.db");
  const held = () => openFiles().filter((file) => file.startsWith(path)).length;
  const open = () => {
    const opened = openSqlite({ path, clock: systemClock });
    assert.ok(opened.ok);
    return opened.value;
  };
  const storage = open();
  for (let index = 0; index < 300; index += 1) await storage.putMemory({ ...memory, id: `${index}` });
  const other = new DatabaseSync(path);
  other.exec("BEGIN EXCLUSIVE");
  await storage.close();
  await storage.close();
  other.close();
  assert.equal(held(), 0);
  const again = open();
  assert.equal((await again.listMemory(memory.owner, 999)).length, 300);
  await again.close();
  assert.equal(held(), 0);
});

function makeFolder(t: TestContext): { folder: string; path: string } {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-look-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, path: join(folder, "sessions.db") };
}

const look = (path: string, isInUse = false) => lookAtDatabase(path, { isInUse });

test("looking at a database that is not there makes none [P2]", (t) => {
  const { folder, path } = makeFolder(t);
  assert.deepEqual(look(path), { ok: true, value: undefined });
  assert.deepEqual(readdirSync(folder), []);
});

test("where there is no record of decisions yet none is looked at, and what is no database of ours is told for what it is [H2][P2]", (t) => {
  const folder = folderWith(t, {
    empty: "",
    noise: "this is no database, but long enough to be taken for one".repeat(20),
  });
  mkdirSync(join(folder, "folder"));
  for (const [name, sql] of [
    ["foreign", "CREATE TABLE theirs (a)"],
    ["newer", "CREATE TABLE ours (a); PRAGMA application_id = 0x41595244; PRAGMA user_version = 999"],
  ] as const) {
    using database = new DatabaseSync(join(folder, name));
    database.exec(sql);
  }
  const names = ["none", "empty", "folder", "noise", "foreign", "newer"];
  const seen = names.map((name) => {
    const looked = lookAtRecord(join(folder, name), () => "looked");
    if (looked.ok) return looked.value;
    const { code, params } = looked.failure;
    return "why" in params ? `${code}: ${params.why}` : code;
  });
  assert.deepEqual(seen, [
    ...[undefined, undefined, "storage_broken: not_a_file", "storage_broken: damaged", "storage_broken: foreign"],
    "storage_newer",
  ]);
  assert.deepEqual(readdirSync(folder).sort(), ["empty", "folder", "foreign", "newer", "noise"]);
});

/** A database that somebody else has open and writes to. */
function makeDatabase(t: TestContext) {
  const path = join(folderWith(t, {}), "d.db");
  const database = new DatabaseSync(path);
  t.after(() => void (database.isOpen && database.close()));
  migrate(database, { path, from: 0 });
  database.exec("PRAGMA journal_mode = WAL");
  const insert = database.prepare("INSERT INTO memory (owner, id, fact, at) VALUES ('alice', ?, ?, 1)");
  return { path, database, remember: (id: string, fact: string) => insert.run(id, fact) };
}

test("all rows of a table are read, in pieces of which none is large [Q3]", (t) => {
  const { path, database, remember } = makeDatabase(t);
  for (let index = 0; index < 1001; index += 1) remember(`m${index}`, "");
  const megabytes = (count: number) => `zeroblob(${count * 1024 * 1024})`;
  for (const [index, count] of [3, 1, 1, 5, 1].entries())
    database.exec(`INSERT INTO blob (number, hash, data) VALUES (1, '${index}', ${megabytes(count)})`);
  const sizes = new Map<string, number[]>();
  for (const { table, rows } of readRows(path)) sizes.set(table, [...(sizes.get(table) ?? []), rows.length]);
  assert.deepEqual(
    [sizes.get("memory"), sizes.get("blob")],
    [
      [500, 500, 1],
      [2, 2, 1],
    ],
  );
});

const kinds: Readonly<Record<string, string>> = { INTEGER: "integer", TEXT: "text", BLOB: "bytes" };

test("a copy has every table of the database with every column, each by its kind [Q3]", (t) => {
  const path = join(folderWith(t, {}), "d.db");
  using database = new DatabaseSync(path);
  migrate(database, { path, from: 0 });
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
  const columns = database.prepare("SELECT name, type FROM pragma_table_info(?)");
  const found = tables.all().map(({ name }) => {
    const kind = columns.all(String(name)).map((column) => [column.name, kinds[String(column.type)]]);
    return [name, Object.fromEntries(kind)];
  });
  // Of a blob the hash is its name; its place in the table means nothing.
  assert.deepEqual(Object.fromEntries(found), { ...copiedTables, blob: { ...copiedTables.blob, key: "integer" } });
});

test("a copy by rows that breaks off, or finds a row of another kind, leaves no file and holds none open [Q3][Q2]", async (t) => {
  const folder = folderWith(t, {});
  const path = join(folder, "copy.db");
  await assert.rejects(fillCopy(path, given({ table: "wake", rows: [[1, 2, 3]] }, new Error("gone"))), /gone/);
  await assert.rejects(fillCopy(path, given({ table: "wake", rows: [[1, "a", 3]] })), /cannot store TEXT/);
  const full = Object.assign(new Error("no space"), { code: "ENOSPC", syscall: "write" });
  const refused = await fillCopy(path, given({ table: "wake", rows: [[1, 2, 3]] }, full));
  assert.equal(refused.ok || refused.failure.code, "storage_full");
  assert.deepEqual([readdirSync(folder), heldIn(folder)], [[], []]);
});

function heldIn(folder: string): string[] {
  return openFiles().filter((file) => file.startsWith(folder));
}

async function* given(batch: CopiedRows, error?: Error): AsyncGenerator<CopiedRows> {
  yield batch;
  if (error !== undefined) throw error;
}
