import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { lookAtDatabase } from "./look-at-database.ts";
import { migrations } from "./migrations.ts";
import { openSqlite } from "./sqlite.ts";

function makeFolder(t: TestContext): { folder: string; path: string } {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-look-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, path: join(folder, "sessions.db") };
}

async function makeDatabase(t: TestContext) {
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
  const { folder, path } = await makeDatabase(t);
  const before = readdirSync(folder);
  assert.deepEqual(look(path), { ok: true, value: migrations.length });
  assert.deepEqual(readdirSync(folder), before);
});

test("a database that another program has locked is told, unless the program is one of ours [P2]", async (t) => {
  const { path } = await makeDatabase(t);
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

test("a database of a newer AgentYard, of another program, or none at all is told for what it is [P2]", async (t) => {
  const causeOf = (path: string) => {
    const looked = look(path);
    if (looked.ok) return looked.value;
    const { code, params } = looked.failure;
    return "why" in params ? `${code}: ${params.why}` : code;
  };
  const newer = (await makeDatabase(t)).path;
  const foreign = makeFolder(t).path;
  const noise = makeFolder(t).path;
  const folder = makeFolder(t).path;
  for (const [path, sql] of [
    [newer, "PRAGMA user_version = 999"],
    [foreign, "CREATE TABLE theirs (a)"],
  ] as const) {
    using database = new DatabaseSync(path);
    database.exec(sql);
  }
  writeFileSync(noise, "this is no database, but long enough to be taken for one".repeat(20));
  mkdirSync(folder);
  assert.deepEqual([newer, foreign, noise, folder].map(causeOf), [
    "storage_newer",
    "storage_broken: foreign",
    "storage_broken: damaged",
    "storage_broken: not_a_file",
  ]);
});
