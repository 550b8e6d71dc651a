import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { folderWith } from "../../../test/world/folder.ts";
import { openFiles } from "../../../test/world/open-files.ts";
import { systemClock } from "../../base/clock.ts";
import { ok } from "../../base/result.ts";
import { type CopiedRows, copiedTables } from "../copied-tables.ts";
import { openRowSums } from "../row-sums.ts";
import { fillCopy } from "./fill-copy.ts";
import { lookAtDatabase } from "./look-at-database.ts";
import { lookAtRecord } from "./look-at-record.ts";
import { migrate, migrations } from "./migrations.ts";
import { readRows } from "./read-rows.ts";
import { openSqlite } from "./sqlite.ts";

function makeFolder(t: TestContext): { folder: string; path: string } {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-look-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, path: join(folder, "sessions.db") };
}

async function madeDatabase(t: TestContext) {
  const place = makeFolder(t);
  const opened = openSqlite({ path: place.path, clock: systemClock });
  assert.ok(opened.ok);
  await opened.value.close();
  return place;
}

const look = (path: string, isInUse = false) => lookAtDatabase(path, { isInUse });

test("looking at a database that is not there makes none [P2]", (t) => {
  const { folder, path } = makeFolder(t);
  assert.deepEqual(look(path), { ok: true, value: undefined });
  assert.deepEqual(readdirSync(folder), []);
});

test("looking at a database tells its format and leaves nothing behind [P2]", async (t) => {
  const { folder, path } = await madeDatabase(t);
  const before = readdirSync(folder);
  assert.deepEqual(look(path), { ok: true, value: migrations.length });
  assert.deepEqual(readdirSync(folder), before);
});

test("a database that another program has locked is told, unless the program is one of ours [P2]", async (t) => {
  const { path } = await madeDatabase(t);
  using other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  const busy = { code: "storage_busy", params: {}, retryable: true };
  assert.deepEqual(
    [look(path), look(path, true)],
    [
      { ok: false, failure: busy },
      { ok: true, value: migrations.length },
    ],
  );
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

test("what is read is one moment: who writes in between is not seen, and who stops reading holds nothing [Q3]", (t) => {
  const { path, database, remember } = makeDatabase(t);
  database.exec("INSERT INTO wake VALUES (1, 2, 3)");
  remember("before", "");
  const read: string[] = [];
  for (const { table, rows } of readRows(path)) {
    if (table === "wake") remember("after", "");
    if (table === "memory") read.push(...rows.map(([, , id]) => String(id)));
  }
  assert.deepEqual(read, ["before"]);
  // As long as somebody else of this process has it locked SQLite keeps all of its files open.
  database.close();
  for (const _ of readRows(path)) break;
  assert.deepEqual(
    openFiles().filter((open) => open.startsWith(path)),
    [],
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

test("a database with a row in every table is the same, to the letter, when it was copied by its rows [Q3][N1]", async (t) => {
  const folder = folderWith(t, {});
  const [path, copy] = [join(folder, "d.db"), join(folder, "copy.db")];
  {
    using database = new DatabaseSync(path);
    migrate(database, { path, from: 0 });
    for (const [table, columns] of Object.entries(copiedTables)) {
      const entries = Object.entries(columns);
      const values = entries.map(([name, kind]) => {
        if (kind === "bytes") return Uint8Array.of(0, 255);
        if (kind === "integer") return name === "deleted_at" || name === "ended_at" ? null : 7;
        return `${table} ${name}` === "workspace kind" ? "task" : `${table} ${name} 你\u0000'`;
      });
      const places = values.map(() => "?").join(", ");
      const sql = `INSERT INTO ${table} (${entries.map(([name]) => name).join(", ")}) VALUES (${places})`;
      database.prepare(sql).run(...values);
    }
    database.exec("UPDATE counter SET last = 41");
  }
  assert.deepEqual(await fillCopy(copy, batchesOf(path)), ok({ conversations: 1, events: 1 }));
  assert.deepEqual(sumsOf(copy), sumsOf(path));
  assert.equal(Object.keys(sumsOf(copy)).length, Object.keys(copiedTables).length);
  assert.deepEqual(readdirSync(folder).sort(), ["copy.db", "d.db"]);
  assert.deepEqual(heldIn(folder), []);
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

async function* batchesOf(path: string): AsyncGenerator<CopiedRows> {
  yield* readRows(path);
}

function sumsOf(path: string) {
  const sums = openRowSums();
  for (const batch of readRows(path)) sums.add(batch);
  return sums.sums();
}

test("in a database from before decisions had hashes every decision is old, and no rule is missed [H2][P2]", (t) => {
  const path = join(folderWith(t, {}), "d.db");
  copyFileSync(join(import.meta.dirname, "../../../test/data/sessions-v3.db"), path);
  const looked = lookAtRecord(path, ({ isOld, rules, gaps }) => [isOld("any"), [...rules], [...gaps]]);
  assert.deepEqual(looked, ok([true, [], []]));
});
