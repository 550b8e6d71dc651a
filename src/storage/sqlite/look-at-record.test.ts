import assert from "node:assert/strict";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { folderWith } from "../../../test/world/folder.ts";
import { lookAtRecord } from "./look-at-record.ts";

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
