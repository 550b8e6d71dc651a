import assert from "node:assert/strict";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeBackup } from "../../src/backup.ts";
import { systemClock } from "../../src/base/clock.ts";
import { findDraft } from "../../src/data-place.ts";
import { holdEmptyDatabase } from "../../src/onto-database.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { bringIn, lookIntoDatabase } from "../../src/storage/postgres/bring-in.ts";
import { openPostgres } from "../../src/storage/postgres/postgres.ts";
import { fillCopy } from "../../src/storage/sqlite/fill-copy.ts";
import { readRows } from "../../src/storage/sqlite/read-rows.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { restore } from "../world/backups.ts";
import { until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { inLanes } from "../world/lanes.ts";
import { cannotStore, postgresServer } from "../world/postgres-server.ts";
import { must, startYard } from "../world/yard.ts";
import { makeFixture, readContents } from "./fixture.ts";
import { changesOf, questionsIn, runMoves } from "./killed-moves.ts";
import { morning, unwrap } from "./storage-place.ts";

/** `npm run torture`: before every single question. Else before the last one of each kind, by its first word. */
const isEvery = process.env.AGENTYARD_MOVE_KILLS === "every";

test("wherever a move to PostgreSQL is killed, all is in the file and the database is empty, or all is in the database [N1][Q2][Q3]", {
  skip: cannotStore,
}, async (t) => {
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
  const questions = questionsIn(runMoves([placeOf()]), isEvery);
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

test("wherever a restore onto PostgreSQL is killed, the old files are there once, and the next start finds all of the backup or says that it is not done; done again, it is [N1][Q2][Q3]", {
  skip: cannotStore,
}, async (t) => {
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
  const questions = questionsIn(runMoves([placeOf()]), isEvery);
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
