import assert from "node:assert/strict";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { folderWith } from "../../../test/world/folder.ts";
import { openFiles } from "../../../test/world/open-files.ts";
import { lookAtRecord } from "./look-at-record.ts";
import { migrate } from "./migrations.ts";

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

test("whatever becomes of a look at the record, nothing is held open after it, and a mistake of ours is thrown on [H2][Q2]", (t) => {
  const path = join(folderWith(t, {}), "d.db");
  {
    using database = new DatabaseSync(path);
    migrate(database, { path, from: 0 });
    database.exec(`INSERT INTO conversation (owner, id, title, last_message, turns, created_at, updated_at)
      VALUES ('alice', 'c', '', '', 0, 1, 1)`);
  }
  const held = () => openFiles().filter((open) => open.startsWith(path));
  const looked = lookAtRecord(path, ({ idOf, ownerOf }) => [idOf(1), ownerOf(1), idOf(2), ownerOf(2)]);
  assert.deepEqual([looked.ok && looked.value, held()], [["c", "alice", "2", undefined], []]);
  const mistake = new Error("our own");
  assert.throws(
    () =>
      lookAtRecord(path, ({ idOf }) => {
        idOf(1);
        throw mistake;
      }),
    mistake,
  );
  assert.deepEqual(held(), []);
});
