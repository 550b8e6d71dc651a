import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { migrate, migrations, readVersion } from "../../src/storage/sqlite/migrations.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import { asToday, fixtureVersion, readContents } from "./fixture.ts";
import { morning, unwrap } from "./storage-place.ts";

const data = join(import.meta.dirname, "../data");
const versions = Array.from({ length: fixtureVersion }, (_, index) => index + 1);

for (const version of versions) {
  test(`everything in a database of version ${version} is read back [L2]`, async (t) => {
    const path = join(folder(t), "sessions.db");
    copyFileSync(join(data, `sessions-v${version}.db`), path);
    const storage = unwrap(openSqlite({ path, clock: { ...systemClock, now: () => morning } }));
    t.after(() => storage.close());
    const kept = JSON.parse(readFileSync(join(data, `sessions-v${version}.json`), "utf8"));
    assert.deepEqual(await readContents(storage), asToday(kept));
    assert.equal(existsSync(`${path}.v${version}.bak`), version < fixtureVersion);
  });
}

test("a new database has the form of the newest fixture, else a migration is missing [L2]", async (t) => {
  const [path, kept] = [join(folder(t), "sessions.db"), join(folder(t), "kept.db")];
  await unwrap(openSqlite({ path, clock: systemClock })).close();
  // A copy: SQLite leaves files beside what it reads.
  copyFileSync(join(data, `sessions-v${fixtureVersion}.db`), kept);
  assert.deepEqual(schemaOf(path), schemaOf(kept));
});

test("a migration keeps a copy of the database before it [L2]", (t) => {
  const path = join(folder(t), "sessions.db");
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
  const path = join(folder(t), "sessions.db");
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

function folder(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "migrations-"));
  t.after(() => rmSync(directory, { recursive: true }));
  return directory;
}
