import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { folderWith } from "../../../test/world/folder.ts";
import { openFiles } from "../../../test/world/open-files.ts";
import { migrate } from "./migrations.ts";
import { readRows } from "./read-rows.ts";

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
