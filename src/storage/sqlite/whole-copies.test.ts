import assert from "node:assert/strict";
import { copyFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { folderWith } from "../../../test/world/folder.ts";
import { openFiles } from "../../../test/world/open-files.ts";
import { ok } from "../../base/result.ts";
import { type CopiedRows, copiedTables } from "../copied-tables.ts";
import { openRowSums } from "../row-sums.ts";
import { fillCopy } from "./fill-copy.ts";
import { lookAtRecord } from "./look-at-record.ts";
import { migrate, migrations } from "./migrations.ts";
import { readRows } from "./read-rows.ts";

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

test("who would upgrade from a version that the database has left behind changes nothing and holds nothing [L2][Q3]", (t) => {
  const path = join(folderWith(t, {}), "d.db");
  using database = new DatabaseSync(path);
  migrate(database, { path, from: 0 });
  assert.throws(() => migrate(database, { path, from: 0 }), /migration 1 finds version 0/);
  assert.equal(database.isTransaction, false);
  assert.equal(database.prepare("PRAGMA user_version").get()?.user_version, migrations.length);
});

test("in a database from before decisions had hashes every decision is old, and no rule is missed [H2][P2]", (t) => {
  const path = join(folderWith(t, {}), "d.db");
  copyFileSync(join(import.meta.dirname, "../../../test/data/sessions-v3.db"), path);
  const looked = lookAtRecord(path, ({ isOld, rules, gaps }) => [isOld("any"), [...rules], [...gaps]]);
  assert.deepEqual(looked, ok([true, [], []]));
});
