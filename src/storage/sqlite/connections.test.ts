import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { folderWith } from "../../../test/world/folder.ts";
import { openFiles } from "../../../test/world/open-files.ts";
import { systemClock } from "../../base/clock.ts";
import { closeConnections, openConnections } from "./connections.ts";
import { migrate, migrations } from "./migrations.ts";
import { openSqlite } from "./sqlite.ts";

test("what is written is on the disk as was said, its log stays small, and a lock holds up the process for no more than a moment [L2][Q2]", (t) => {
  const path = join(folderWith(t, {}), "d.db");
  for (const [synchronous, level] of [
    ["full", 2],
    ["normal", 1],
  ] as const) {
    const opened = openConnections({ path, synchronous, busyTimeoutMs: 777 });
    assert.ok(opened.ok);
    const { writer, reader } = opened.value;
    const asked = (database: DatabaseSync, name: string) =>
      Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {});
    const names = ["journal_mode", "synchronous", "journal_size_limit", "busy_timeout"];
    assert.deepEqual(
      names.flatMap((name) => asked(writer, name)),
      ["wal", level, 64 * 1024 * 1024, 10],
    );
    assert.deepEqual(asked(reader, "busy_timeout"), [777]);
    assert.throws(() => reader.exec("DELETE FROM wake"), /readonly/);
    closeConnections(opened.value);
  }
});

test("a database that could not be opened is not held open, and neither is one that has no log [Q2]", (t) => {
  const folder = folderWith(t, {});
  const held = () => openFiles().filter((path) => path.startsWith(folder));
  const open = (path: string) => openSqlite({ path, clock: systemClock, busyTimeoutMs: 1 });
  const old = join(folder, "old.db");
  copyFileSync(join(import.meta.dirname, "../../../test/data/sessions-v1.db"), old);
  // Where its copy is to lie before it is changed there is something else.
  mkdirSync(join(`${old}.v1.bak`, "in the way"), { recursive: true });
  assert.throws(() => open(old));
  assert.deepEqual(held(), []);

  // A way to the file that knows no shared memory, as some file systems do not; SQLite takes the name for an address.
  const address = "file:plain.db?vfs=unix-none";
  const cwd = process.cwd();
  process.chdir(folder);
  try {
    for (const name of ["plain.db", address]) writeFileSync(name, "");
    const refused = open(address);
    assert.deepEqual(refused.ok || refused.failure.params, { why: "no_wal" });
  } finally {
    process.chdir(cwd);
  }
  assert.deepEqual(held(), []);
});

test("a copy before an upgrade that finds no place leaves nothing of itself, and the database as it was [L2][Q3]", (t) => {
  const folder = folderWith(t, {});
  const path = join(folder, "d.db");
  using database = new DatabaseSync(path);
  migrate(database, { path, from: 0 });
  const from = migrations.length;
  const copy = `${path}.v${from}.bak`;
  mkdirSync(join(copy, "in the way"), { recursive: true });
  assert.throws(() => migrate(database, { path, from, steps: [...migrations, "DROP TABLE wake"] }));
  assert.deepEqual(readdirSync(folder).sort(), ["d.db", `d.db.v${from}.bak`]);
  assert.ok(existsSync(join(copy, "in the way")));
  assert.deepEqual(Object.values(database.prepare("SELECT count(*) FROM wake").get() ?? {}), [0]);
});
