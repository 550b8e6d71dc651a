import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { tables } from "../../src/storage/postgres/migrations/0001-tables.ts";
import { newestVersion } from "../../src/storage/postgres/migrations.ts";
import { openPostgres } from "../../src/storage/postgres/postgres.ts";
import { fillCopy } from "../../src/storage/sqlite/fill-copy.ts";
import { inLanes } from "../world/lanes.ts";
import { cannotStore, type PostgresServer, postgresServer } from "../world/postgres-server.ts";
import { changesOf, questionsIn, runMoves } from "./killed-moves.ts";
import type { MoveOrder } from "./postgres-move-child.ts";
import { facts, makeConversation, readAll, stored, unwrap } from "./storage-place.ts";

const conversationSql = `INSERT INTO conversation
  (owner, id, title, small_title, last_message, turns, created_at, updated_at, origin, read_index, is_passing) VALUES`;
const rest = "'T', 't', '', 0, 1, 1, 'person', 0, 0";

/** `npm run torture`: before every single question. Else when the old tables are nearly kept, and around the end of it all. */
const isEvery = process.env.AGENTYARD_UPGRADE_KILLS === "every";

/** Tables of the first version, with something in them. */
async function oldPlace(server: PostgresServer): Promise<string> {
  const url = server.newPlace();
  const schema = new URL(url).searchParams.get("schema");
  await server.run(`CREATE SCHEMA ${schema}; SET search_path = ${schema};
    CREATE TABLE agentyard (version bigint NOT NULL); INSERT INTO agentyard VALUES (1); ${tables};
    ${conversationSql} ('kim', 'first', ${rest}), ('kim', 'second', ${rest});
    INSERT INTO log SELECT number, 0, 0, NULL, 0, 0 FROM conversation; INSERT INTO event VALUES ((1 << 24) + 1, 'x', 1, 5, '{"a":1}')`);
  return url;
}

test("before a newer version changes the tables all of them are kept under another name, and with the old name the version before goes on [Q3][N1]", {
  skip: cannotStore,
}, async () => {
  const server = await postgresServer();
  const url = await oldPlace(server);
  const schema = new URL(url).searchParams.get("schema");
  const rowsOf = async (sql: string) => (await server.run(sql)).rows;
  const before = await rowsOf(`SELECT * FROM ${schema}.conversation ORDER BY number`);

  const storage = unwrap(await openPostgres({ url, clock: systemClock, fillCopy }));
  const number = await makeConversation(storage, "third");
  unwrap(await storage.append({ number, events: facts("new") }));
  assert.deepEqual(await readAll(storage, number), stored(1, "new"));
  await storage.close();

  const copy = `${schema}_before_${newestVersion}`;
  assert.deepEqual(await rowsOf(`SELECT * FROM ${copy}.conversation ORDER BY number`), before);
  assert.deepEqual(await rowsOf(`SELECT body FROM ${copy}.event`), [{ body: '{"a":1}' }]);

  await server.run(`DROP SCHEMA ${schema} CASCADE; ALTER SCHEMA ${copy} RENAME TO ${schema}`);
  assert.deepEqual(await rowsOf(`SELECT version FROM ${schema}.agentyard`), [{ version: "1" }]);
  // As the version before counts on, so does the copy.
  const next = `SET search_path = ${schema}; ${conversationSql} ('kim', 'next', ${rest})`;
  await server.run(next);
  assert.deepEqual((await rowsOf(`SELECT number FROM ${schema}.conversation ORDER BY number`)).at(-1), { number: "3" });
  await assert.rejects(server.run(next), /duplicate key/);

  // Who goes forward once more keeps that, too.
  await unwrap(await openPostgres({ url, clock: systemClock, fillCopy })).close();
  assert.deepEqual((await rowsOf(`SELECT id FROM ${copy}.conversation ORDER BY number`)).at(-1), { id: "next" });
});

test("what is kept before an upgrade replaces nothing that was kept before, also where the name is as long as names can be [Q3][N1]", {
  skip: cannotStore,
}, async () => {
  const server = await postgresServer();
  const old = await oldPlace(server);
  const schema = new URL(old).searchParams.get("schema") ?? "";
  // Names are cut at 63 characters.
  const long = schema.padEnd(63, "x");
  const ending = `_before_${newestVersion}`;
  const copy = `${long.slice(0, 63 - ending.length)}${ending}`;
  const second = `${long.slice(0, 61 - ending.length)}${ending}_2`;
  await server.run(
    `ALTER SCHEMA ${schema} RENAME TO ${long}; CREATE SCHEMA ${copy}; CREATE TABLE ${copy}.mine (a text)`,
  );
  const url = old.replace(schema, long);
  await unwrap(await openPostgres({ url, clock: systemClock, fillCopy })).close();
  const { rows } = await server.run(
    `SELECT nspname AS name FROM pg_namespace WHERE nspname LIKE '${schema}%' ORDER BY nspname COLLATE "C"`,
  );
  assert.deepEqual(
    rows.map(({ name }) => name),
    [copy, second, long].sort(),
  );
  const kept = await server.run(`SELECT id FROM ${second}.conversation ORDER BY number`);
  assert.deepEqual(kept.rows, [{ id: "first" }, { id: "second" }]);
  assert.equal((await server.run(`SELECT 1 FROM pg_tables WHERE schemaname = '${copy}'`)).rowCount, 1);
});

test("wherever an upgrade of the tables is killed, they are the old ones or the new ones as a whole, and the next start has the new ones and the old ones beside them, once [Q3][Q2][N1]", {
  skip: cannotStore,
}, async (t) => {
  const server = await postgresServer();
  const placeOf = async () => ({ data: "", database: await oldPlace(server), isOpened: true as const });
  const questions = questionsIn(runMoves([await placeOf()]), isEvery, ["CREATE", "COMMIT"]);
  const places: MoveOrder[number][] = [];
  for (const standBefore of questions) places.push({ ...(await placeOf()), standBefore });
  places.push({ ...(await placeOf()), standAfter: questions.at(-1) });
  runMoves(places);
  const found = await inLanes(places, async ({ database: url, standBefore }) => {
    const schema = new URL(url).searchParams.get("schema");
    const rowsOf = async (sql: string) => (await server.run(sql)).rows;
    const copies = () => rowsOf(`SELECT nspname AS name FROM pg_namespace WHERE nspname LIKE '${schema}\\_before%'`);
    const [[{ version }], kept] = [await rowsOf(`SELECT version FROM ${schema}.agentyard`), await copies()];
    const isNew = Number(version) === newestVersion;
    const copy = { name: `${schema}_before_${newestVersion}` };
    assert.deepEqual([isNew ? "" : version, kept], isNew ? ["", [copy]] : ["1", []], `before question ${standBefore}`);
    await unwrap(await openPostgres({ url, clock: systemClock, fillCopy })).close();
    assert.deepEqual(await copies(), [copy]);
    for (const [one, known] of [[schema, newestVersion] as const, [copy.name, 1] as const]) {
      const ids = await rowsOf(`SELECT version, id FROM ${one}.agentyard, ${one}.conversation ORDER BY number`);
      const rows = ["first", "second"].map((id) => ({ version: String(known), id }));
      assert.deepEqual(ids, rows, one ?? "");
    }
    return isNew;
  });
  assert.deepEqual(changesOf(found), [false, true], "nothing was changed, then all of it");
  t.diagnostic(`${places.length} kills`);
});

test("a new database has nothing to keep [Q3]", { skip: cannotStore }, async () => {
  const server = await postgresServer();
  const url = server.newPlace();
  await unwrap(await openPostgres({ url, clock: systemClock, fillCopy })).close();
  const schema = new URL(url).searchParams.get("schema");
  const { rows } = await server.run(`SELECT nspname FROM pg_namespace WHERE nspname LIKE '${schema}%'`);
  assert.deepEqual(rows, [{ nspname: schema }]);
});
