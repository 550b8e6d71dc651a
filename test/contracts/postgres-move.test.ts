import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeBackup } from "../../src/backup.ts";
import { systemClock } from "../../src/base/clock.ts";
import { findDraft } from "../../src/data-place.ts";
import { holdEmptyDatabase } from "../../src/onto-database.ts";
import { failure } from "../../src/protocol/failure.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { bringIn, lookIntoDatabase } from "../../src/storage/postgres/bring-in.ts";
import { tables } from "../../src/storage/postgres/migrations/0001-tables.ts";
import { newestVersion } from "../../src/storage/postgres/migrations.ts";
import { openPostgres } from "../../src/storage/postgres/postgres.ts";
import { fillCopy } from "../../src/storage/sqlite/fill-copy.ts";
import { readRows } from "../../src/storage/sqlite/read-rows.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { restore } from "../world/backups.ts";
import { until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { inLanes } from "../world/lanes.ts";
import { type PostgresServer, postgresServer, onPostgres as test } from "../world/postgres-server.ts";
import { must, startYard } from "../world/yard.ts";
import { makeFixture, readContents } from "./fixture.ts";
import type { MoveOrder, MoveTold } from "./postgres-move-child.ts";
import { alice, codeOf, facts, idOf, makeConversation, morning, readAll, stored, unwrap } from "./storage-place.ts";

test("a database with everything in it is moved to PostgreSQL and back to a file to the letter, once, and whatever is stored next has a number of its own [N1][P2][Q3]", async (t) => {
  const folder = folderWith(t, {});
  const [path, copy] = [join(folder, "sessions.db"), join(folder, "copy.db")];
  const contents = await makeFixture(path);
  const before = [...readRows(path)];
  const url = (await postgresServer()).newPlace();
  const place = { url, synchronous: "full", statementMsMax: 60_000, clock: systemClock } as const;
  const moved = unwrap(await bringIn(place, () => readRows(path)));
  assert.equal(codeOf(await bringIn(place, () => readRows(path))), "database_not_empty");

  // One fact that somebody told is something, too.
  const small = { ...place, url: (await postgresServer()).newPlace() };
  const other = unwrap(await openPostgres({ ...small, fillCopy }));
  unwrap(await other.putMemory({ owner: alice, id: "m", fact: "likes tea", conversation: "c", at: morning }));
  await other.close();
  assert.equal(codeOf(await bringIn(small, () => readRows(path))), "database_not_empty");

  const storage = unwrap(await openPostgres({ url, clock: systemClock, now: () => morning, fillCopy }));
  t.after(() => storage.close());
  assert.deepEqual(await readContents(storage), contents);
  assert.deepEqual(unwrap(await storage.copyTo(copy)), moved);
  assert.deepEqual(sorted([...readRows(copy)]), sorted(before));
  assert.ok(before.length > 15, "and there was something in each table");

  const numbers = before.flatMap(({ table, rows }) => (table === "conversation" ? rows.map(([number]) => number) : []));
  const next = await makeConversation(storage, "next", alice);
  assert.equal(next, Math.max(...numbers.map(Number)) + 1);
  const old = await storage.listConversations(alice, { limit: 9 });
  assert.deepEqual(
    old.map(({ id }) => id),
    ["next"],
  );
  const [first = 0] = numbers.map(Number);
  const head = await storage.headOf(first);
  assert.equal(unwrap(await storage.append({ number: first, events: facts("more") })).lastSeq, head + 1);
  assert.equal(
    codeOf(await storage.createConversation({ owner: alice, id: idOf("next"), at: morning, events: [] })),
    "conversation_exists",
  );
  const kept = await counted(storage);
  await storeOneOfEach(storage, first);
  assert.deepEqual(
    await counted(storage),
    kept.map((count) => count + 1),
  );
});

/** What else has a number of its own: rules and facts, decisions and agents, programs, users, tools of a box. */
async function storeOneOfEach(storage: Storage, number: number): Promise<void> {
  const times = { createdAt: morning, updatedAt: morning };
  const user = { name: "Alice", password: undefined, isAdmin: false, subject: undefined };
  const box = { id: "box of hers", owner: alice, body: "{}", ...times };
  const side = { asked: [{ decision: "next", body: "{}" }], agents: [{ id: "next", parent: "root" }] };
  unwrap(await storage.putRule({ owner: localOwner, id: "next", number: undefined, body: "{}", at: morning }));
  unwrap(await storage.putMemory({ owner: localOwner, id: "next", fact: "likes tea", conversation: "c", at: morning }));
  unwrap(await storage.append({ number, events: [], with: side }));
  const over = { endedAt: morning, body: "{}", full: undefined };
  unwrap(await storage.putExecution({ id: "next", owner: localOwner, createdAt: morning, ...over }));
  unwrap(await storage.putUser({ id: alice, ...user, at: morning }));
  unwrap(await storage.putToolbox(box, [{ ...box, id: "next", box: box.id }]));
}

async function counted(storage: Storage): Promise<number[]> {
  const [{ number } = { number: 0 }] = await storage.listConversations(localOwner, { limit: 9 });
  const [rules, facts] = [await storage.listRules(localOwner, { limit: 9 }), await storage.listMemory(localOwner, 9)];
  const [decisions, agents] = [await storage.openDecisions(localOwner, 9), await storage.agentsOf(number)];
  const { total } = await storage.listExecutions(localOwner, { limit: 9, offset: 0 });
  const [users, tools] = [await storage.listUsers(9), await storage.listBoxTools(9)];
  return [...[rules, facts, decisions, agents, users, tools].map(({ length }) => length), total];
}

test("nothing is brought into a database while a server lives on it, or where the last step fails; what earlier servers agreed on goes [N1][Q3]", async (t) => {
  const path = join(folderWith(t, {}), "sessions.db");
  await makeFixture(path);
  const url = (await postgresServer()).newPlace();
  const place = { url, synchronous: "full", statementMsMax: 60_000, clock: systemClock } as const;
  const storage = unwrap(await openPostgres({ ...place, fillCopy }));
  t.after(() => storage.close());
  unwrap(await storage.agree("files", "of an earlier one"));
  await storage.beat({ id: "alive", address: "127.0.0.1:7421" });
  const living = await bringIn(place, () => readRows(path));
  assert.deepEqual(living.ok || living.failure.params, { why: "in_use", said: "127.0.0.1:7421" });
  unwrap(await storage.leave("alive"));

  const broken = await bringIn(
    place,
    () => readRows(path),
    async () => failure("restore_failed", { why: "full" }),
  );
  assert.deepEqual(broken.ok || broken.failure.params, { why: "full" });
  assert.deepEqual(unwrap(await lookIntoDatabase(place)), { isUsed: false });
  assert.equal(unwrap(await storage.agree("files", "of another")), "of an earlier one");

  unwrap(await bringIn(place, () => readRows(path)));
  assert.deepEqual(unwrap(await lookIntoDatabase(place)), { isUsed: true });
  assert.equal(unwrap(await storage.agree("files", "of another")), "of another");
});

/** The order of rows is nobody's business. */
function sorted(batches: readonly { readonly table: string; readonly rows: readonly (readonly unknown[])[] }[]) {
  const lines = batches.flatMap(({ table, rows }) => rows.map((row) => `${table} ${JSON.stringify(row.map(shown))}`));
  return lines.sort();
}

function shown(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value;
}

/** `npm run torture`: before every single question. Else before the last one of each kind, by its first word. */
const isEvery = process.env.AGENTYARD_MOVE_KILLS === "every";

test("wherever a move to PostgreSQL is killed, all is in the file and the database is empty, or all is in the database [N1][Q2][Q3]", async (t) => {
  const server = await postgresServer();
  const folder = folderWith(t, {});
  const contents = await makeFixture(join(folder, "sessions.db"));
  let count = 0;
  const placeOf = () => {
    count += 1;
    const data = join(folder, `data-${count}`);
    mkdirSync(data);
    cpSync(join(folder, "sessions.db"), join(data, "sessions.db"));
    return { data, database: server.newPlace() };
  };
  const questions = questionsIn(runMoves([placeOf()]), isEvery, ["INSERT", "COMMIT"]);
  const places = questions.map((standBefore) => ({ ...placeOf(), standBefore }));
  const last = { ...placeOf(), isKilledBeforeRename: true };
  runMoves([...places, last]);
  const found = await inLanes([...places, last], async ({ data, database }) => {
    const path = join(data, "sessions.db");
    const place = placeIn(database);
    const { isUsed } = unwrap(await lookIntoDatabase(place));
    assert.ok(isUsed || existsSync(path), `${data}: what is not in the database is in the file, under its name`);
    // The database server may not have noticed yet that who filled it is gone.
    if (!isUsed) await until("it can be moved", async () => (await bringIn(place, () => readRows(path))).ok);
    const storage = unwrap(await openPostgres({ ...place, now: () => morning, fillCopy }));
    assert.deepEqual(await readContents(storage), contents, data);
    await storage.close();
    return isUsed;
  });
  assert.deepEqual(changesOf(found), [false, true], "nothing was in the database, then all of it");
  t.diagnostic(`${places.length + 1} kills`);
});

test("wherever a restore onto PostgreSQL is killed, the old files are there once, and the next start finds all of the backup or says that it is not done; done again, it is [N1][Q2][Q3]", async (t) => {
  const server = await postgresServer();
  const folder = folderWith(t, {});
  const archive = join(folder, "yard.tar");
  const contents = await makeArchive(archive);
  let count = 0;
  const placeOf = () => {
    count += 1;
    const [data, files] = [join(folder, `data-${count}`), join(folder, `files-${count}`)];
    mkdirSync(data);
    mkdirSync(join(files, "workspace", "old"), { recursive: true });
    writeFileSync(join(files, "workspace", "old", "a.txt"), "old");
    return { data, database: server.newPlace(), restored: { archive, files } };
  };
  const questions = questionsIn(runMoves([placeOf()]), isEvery, ["INSERT", "COMMIT"]);
  const places = questions.map((standBefore) => ({ ...placeOf(), standBefore }));
  const last = { ...placeOf(), standAfter: questions.at(-1) };
  runMoves([...places, last]);
  const found = await inLanes([...places, last], async ({ data, database, restored }) => {
    const { files } = restored;
    const place = placeIn(database);
    const { isUsed } = unwrap(await lookIntoDatabase(place));
    const isOld = existsSync(join(files, "workspace", "old")) && !existsSync(join(files, "workspace", "new"));
    assert.ok(isUsed || isOld || findDraft(files) !== undefined, `${data}: an empty yard would begin`);
    const holdDatabase = () =>
      holdEmptyDatabase({ ...place, connectionsMax: 2, awayMsMax: 0, peerAddress: undefined }, () => {});
    const again = { filesDir: files, replaces: true, holdDatabase };
    // As above: it may still be held.
    if (!isUsed) await until("it can be restored", async () => (await restore(archive, data, again)).ok);
    assert.deepEqual(globSync("**/old/a.txt", { cwd: files }).length, 1, `${data}: the old files are there once`);
    assert.equal(readFileSync(join(files, "workspace", "new", "uploads", "new.txt"), "utf8"), "new", data);
    const storage = unwrap(await openPostgres({ ...place, fillCopy }));
    assert.deepEqual(await readYard(storage), contents, data);
    await storage.close();
    return isUsed;
  });
  assert.deepEqual(changesOf(found), [false, true], "nothing was in the database, then all of it");
  t.diagnostic(`${places.length + 1} kills`);
});

const placeIn = (url: string) => ({ url, synchronous: "full", statementMsMax: 60_000, clock: systemClock }) as const;

/** A backup of a small yard, and what a storage says that has all of it. */
async function makeArchive(path: string): Promise<unknown> {
  let stored: Storage | undefined;
  const wrapStorage = (storage: Storage) => {
    stored = storage;
    return storage;
  };
  await using yard = await startYard({ wrapStorage });
  await must(yard.client.call("createConversation", { body: { id: "new" } }));
  await must(yard.client.upload("new", "new.txt", Buffer.from("new")));
  await must(yard.client.call("addMemory", { body: { fact: "tea, not coffee" } }));
  unwrap(await makeBackup({ fetch: yard.fetch, path, includesKey: false }));
  return readYard(stored ?? assert.fail());
}

async function readYard(storage: Storage): Promise<unknown> {
  const conversations = await storage.listConversations(localOwner, { limit: 10 });
  const [{ number } = assert.fail("the conversation is there")] = conversations;
  const [events, workspace] = [
    await storage.read(number, { after: 0, limit: 100 }),
    await storage.findWorkspace(number),
  ];
  const contents = { conversations, events, workspace, memory: await storage.listMemory(localOwner, 10) };
  return JSON.parse(JSON.stringify(contents));
}

const conversationSql = `INSERT INTO conversation
  (owner, id, title, small_title, last_message, turns, created_at, updated_at, origin, read_index, is_passing) VALUES`;
const restOfRow = "'T', 't', '', 0, 1, 1, 'person', 0, 0";

/** `npm run torture`: before every single question. Else when the old tables are nearly kept, and around the end of it all. */
const isEveryOfUpgrade = process.env.AGENTYARD_UPGRADE_KILLS === "every";

/** Tables of the first version, with something in them. */
async function oldPlace(server: PostgresServer): Promise<string> {
  const url = server.newPlace();
  const schema = new URL(url).searchParams.get("schema");
  await server.run(`CREATE SCHEMA ${schema}; SET search_path = ${schema};
    CREATE TABLE agentyard (version bigint NOT NULL); INSERT INTO agentyard VALUES (1); ${tables};
    ${conversationSql} ('kim', 'first', ${restOfRow}), ('kim', 'second', ${restOfRow});
    INSERT INTO log SELECT number, 0, 0, NULL, 0, 0 FROM conversation; INSERT INTO event VALUES ((1 << 24) + 1, 'x', 1, 5, '{"a":1}')`);
  return url;
}

test("before a newer version changes the tables all of them are kept under another name, and with the old name the version before goes on [Q3][N1]", async () => {
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
  const next = `SET search_path = ${schema}; ${conversationSql} ('kim', 'next', ${restOfRow})`;
  await server.run(next);
  assert.deepEqual((await rowsOf(`SELECT number FROM ${schema}.conversation ORDER BY number`)).at(-1), {
    number: "3",
  });
  await assert.rejects(server.run(next), /duplicate key/);

  // Who goes forward once more keeps that, too.
  await unwrap(await openPostgres({ url, clock: systemClock, fillCopy })).close();
  assert.deepEqual((await rowsOf(`SELECT id FROM ${copy}.conversation ORDER BY number`)).at(-1), { id: "next" });
});

test("wherever an upgrade of the tables is killed, they are the old ones or the new ones as a whole, and the next start has the new ones and the old ones beside them, once [Q3][Q2][N1]", async (t) => {
  const server = await postgresServer();
  const placeOf = async () => ({ data: "", database: await oldPlace(server), isOpened: true as const });
  const questions = questionsIn(runMoves([await placeOf()]), isEveryOfUpgrade, ["CREATE", "COMMIT"]);
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

/** In a process that is killed at the end, with all that stand; what it told of each. */
function runMoves(order: MoveOrder): MoveTold[] {
  const script = join(import.meta.dirname, "postgres-move-child.ts");
  const { signal, stdout } = spawnSync(process.execPath, [script, JSON.stringify(order)], {
    ...{ encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
  });
  assert.equal(signal, "SIGKILL");
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/**
 * Of one that came to its end: before which of its questions it is killed. All, or the last one of each kind, which is its
 * first word; `chosen`: of these kinds alone.
 */
function questionsIn([whole]: readonly MoveTold[], isEvery: boolean, chosen?: readonly string[]): number[] {
  const { asked, code } = whole ?? assert.fail("it was told of");
  assert.ok(code === 0 && asked.length > 20, JSON.stringify(whole));
  const kinds = asked.map((words) => words.split(" ")[0] ?? "");
  const numbers = asked.map((_, index) => index + 1);
  if (isEvery) return numbers;
  const last = new Map(kinds.map((kind, index) => [kind, index + 1]));
  return numbers.filter((number) => [...last].some(([kind, at]) => at === number && chosen?.includes(kind) !== false));
}

/** Nothing first, and then all of it; each as often as there are places. */
const changesOf = (found: readonly boolean[]) => found.filter((isDone, index) => isDone !== found[index - 1]);
