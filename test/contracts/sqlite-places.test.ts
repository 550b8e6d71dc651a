import assert from "node:assert/strict";
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { ok, type Result } from "../../src/base/result.ts";
import type { Failure } from "../../src/protocol/failure.ts";
import { readCopy } from "../../src/storage/sqlite/copy.ts";
import { fillCopy } from "../../src/storage/sqlite/fill-copy.ts";
import { migrate, migrations } from "../../src/storage/sqlite/migrations.ts";
import { readOwner, takeOwnership } from "../../src/storage/sqlite/owner-lock.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import { folderWith } from "../world/folder.ts";
import { alice, facts, idOf, makeConversation, morning, readAll, stored, unwrap } from "./storage-place.ts";

// The files of a database: who may read them, what is left of them, and what becomes of those that are not whole.

const open = (path: string) => openSqlite({ path, clock: systemClock });
const modeOf = (path: string) => statSync(path).mode & 0o777;

/** As doctor and the commands tell it. */
const broken = (why: string, said?: string) => ({
  ...{ ok: false, failure: { code: "storage_broken", params: said === undefined ? { why } : { why, said } } },
});
const told = (answer: { ok: boolean; failure?: { code: string; params: object } }) =>
  answer.ok ? answer : { ok: false, failure: { code: answer.failure?.code, params: answer.failure?.params } };

test("the database and its folder are for their user alone, and whoever closes it leaves one file with all in it [Q1][L2]", async (t) => {
  const folder = join(folderWith(t, {}), "new", "data");
  const path = join(folder, "sessions.db");
  const storage = unwrap(open(path));
  const number = await makeConversation(storage);
  unwrap(await storage.append({ number, events: facts("a") }));
  const files = ["", "-wal", ".reserve"];
  assert.deepEqual([modeOf(folder), ...files.map((end) => modeOf(`${path}${end}`))], [0o700, 0o600, 0o600, 0o600]);
  await storage.close();
  assert.deepEqual(readdirSync(folder).sort(), ["sessions.db", "sessions.db.reserve"]);
  assert.equal(statSync(`${path}.reserve`).size, 1024 * 1024);

  const lock = takeOwnership(join(folder, "owned"), { pid: 1, startedAt: 1, socket: "s", protocol: "1" });
  assert.ok(lock.ok);
  lock.value.tellAddress("http://localhost:1");
  assert.deepEqual(
    [
      readOwner(join(folder, "owned"))?.address,
      modeOf(join(folder, "owned")),
      modeOf(join(folder, "owned/owner.json")),
    ],
    ["http://localhost:1", 0o700, 0o600],
  );
  lock.value.release();
});

test("a place that cannot have a log beside the database is told as that [Q2][P4]", (t) => {
  // SQLite takes this name for a database in memory, which has no log.
  const folder = folderWith(t, { ":memory:": "" });
  const before = process.cwd();
  process.chdir(folder);
  try {
    assert.deepEqual(told(open(":memory:")), broken("no_wal"));
  } finally {
    process.chdir(before);
  }
});

test("once the file was taken away or replaced, nothing new is taken in, nothing is copied, and whoever asks is told [Q2][L2]", async (t) => {
  const folder = folderWith(t, {});
  const path = join(folder, "sessions.db");
  const storage = unwrap(open(path));
  t.after(() => storage.close());
  const number = await makeConversation(storage);
  renameSync(path, `${path}.away`);
  const tried = async () => [
    await storage.createConversation({ owner: alice, id: idOf("next"), at: morning, events: [] }),
    await storage.append({ number, events: facts("hi"), with: { received: "m" } }),
    await storage.copyTo(join(folder, "copy.db")),
    await storage.check(),
  ];
  const refused = Array.from({ length: 4 }, () => broken("removed"));
  assert.deepEqual((await tried()).map(told), refused);
  writeFileSync(path, "");
  assert.deepEqual((await tried()).map(told), refused);
  renameSync(`${path}.away`, path);
  unwrap(await storage.append({ number, events: facts("hi"), with: { received: "m" } }));
  assert.deepEqual(await readAll(storage, number), stored(1, "hi"));
  assert.deepEqual(readdirSync(folder).includes("copy.db"), false);
});

test("a copy that a killed upgrade left unfinished does not keep the next start from making one [L2][Q3]", (t) => {
  const folder = folderWith(t, {});
  const path = join(folder, "sessions.db");
  using database = new DatabaseSync(path);
  migrate(database, { path, from: 0 });
  const from = migrations.length;
  writeFileSync(`${path}.v${from}.bak.part`, "half of a copy");
  migrate(database, { path, from, steps: [...migrations, "DROP TABLE wake"] });
  assert.deepEqual(readdirSync(folder).sort(), ["sessions.db", `sessions.db.v${from}.bak`]);
});

test("a copy of a damaged database is no copy: it is told, and nothing is left of it [Q3][Q2]", async (t) => {
  const folder = folderWith(t, {});
  const path = join(folder, "sessions.db");
  const first = unwrap(open(path));
  await makeConversation(first);
  await first.close();
  spoil(path, "rule");
  const storage = unwrap(open(path));
  t.after(() => storage.close());
  const before = readdirSync(folder);
  const copied = await storage.copyTo(join(folder, "copy.db"));
  assert.deepEqual(causeOf(copied), ["storage_broken", "damaged"]);
  assert.deepEqual(readdirSync(folder), before);
});

test("a copy that is made of rows is whole or not there, and what was there before stays [Q3]", async (t) => {
  const folder = folderWith(t, { taken: "mine" });
  const path = join(folder, "copy.db");
  const row = [1, "alice", "c", "title", "", 0, 1, 1, null, "person", null, null, 0, 0, 0, null];
  const gone = [2, "alice", "d", "", "", 0, 1, 1, 9, "person", null, null, 0, 0, 0, null];
  const event = [2 ** 24 + 1, "message.user", 1, 1, "{}"];
  const batches = [
    { table: "conversation", rows: [row, gone] },
    { table: "event", rows: [event] },
  ];
  const facts = ok({ conversations: 1, events: 1 });
  assert.deepEqual(await fillCopy(path, given(batches)), facts);
  assert.deepEqual([await readCopy(path), modeOf(path)], [facts, 0o600]);
  assert.deepEqual(told(await fillCopy(join(folder, "taken"), given(batches))), broken("place", "EEXIST"));
  assert.equal(readFileSync(join(folder, "taken"), "utf8"), "mine");

  await assert.rejects(fillCopy(join(folder, "half.db"), given(batches, "the server is gone")), /the server is gone/);
  assert.deepEqual(readdirSync(folder).sort(), ["copy.db", "taken"]);
  spoil(path, "rule");
  const looked = await readCopy(path);
  assert.deepEqual(causeOf(looked), ["storage_broken", "damaged"]);
});

function causeOf(answer: Result<unknown, Failure>): unknown {
  if (answer.ok) return "ok";
  const { code, params } = answer.failure;
  return [code, "why" in params ? params.why : undefined];
}

type CopiedRows = Parameters<typeof fillCopy>[1] extends AsyncIterable<infer Rows> ? Rows : never;

async function* given(batches: readonly CopiedRows[], failing?: string): AsyncGenerator<CopiedRows> {
  yield* batches;
  if (failing !== undefined) throw new Error(failing);
}

/** Overwrites the first page of a table. */
function spoil(path: string, table: string): void {
  using database = new DatabaseSync(path, { readOnly: true });
  const page = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(table)?.rootpage;
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(4096, 0xee), 0, 4096, (Number(page) - 1) * 4096);
  closeSync(file);
}
