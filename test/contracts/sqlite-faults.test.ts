import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import type { Result } from "../../src/base/result.ts";
import type { Failure } from "../../src/protocol/failure.ts";
import { lookAtDatabase } from "../../src/storage/sqlite/look-at-database.ts";
import { migrations } from "../../src/storage/sqlite/migrations.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { startChild } from "./sqlite-child.ts";
import { codeOf, facts, makeConversation, readAll, stored, unwrap } from "./storage-place.ts";

test("a database of a newer version is named and not touched, not even its unfinished log [Q2]", async (t) => {
  const [directory, copy] = [folder(t), folder(t)];
  await makeDatabase(directory);
  const newer = new DatabaseSync(join(directory, "sessions.db"));
  newer.exec("PRAGMA user_version = 99; CREATE TABLE future (a)");
  cpSync(directory, copy, { recursive: true });
  newer.close();
  const before = contents(copy);
  assert.ok(before["sessions.db-wal"], "the copy has a log that is not folded in");
  const opened = open(copy);
  assert.deepEqual(opened.ok || opened.failure.params, { found: 99, known: migrations.length });
  assert.equal(codeOf(opened), "storage_newer");
  assert.deepEqual(contents(copy), before);
});

test("a database that was cut off while it was made, or opened for the first time after a restore, has what it had before [L2][Q2]", async (t) => {
  const [directory, copy] = [folder(t), folder(t)];
  await makeDatabase(directory);
  const path = join(directory, "sessions.db");
  const restored = new DatabaseSync(path);
  t.after(() => restored.close());
  // A small cache: the change is written into the file before its end, and only the journal has what was there.
  restored.exec(
    "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN; DELETE FROM event; DELETE FROM conversation",
  );
  restored.exec("CREATE TABLE large AS SELECT zeroblob(100000) AS a");
  cpSync(directory, copy, { recursive: true });
  assert.ok(statSync(join(copy, "sessions.db-journal")).size > 512, "the copy has a journal that is to be undone");
  assert.deepEqual(lookAtDatabase(join(copy, "sessions.db"), { isInUse: false }), {
    ok: true,
    value: migrations.length,
  });
  cpSync(directory, copy, { recursive: true });
  const storage = unwrap(open(copy));
  t.after(() => storage.close());
  assert.deepEqual(await readAll(storage, 1), stored(1, "a"));
});

test("what is no database of ours is named as broken, with the cause, and left as it is [Q2]", (t) => {
  const directory = folder(t);
  const other = new DatabaseSync(join(directory, "other.db"));
  other.exec("CREATE TABLE recipe (name); PRAGMA user_version = 7");
  other.close();
  const foreign = readFileSync(join(directory, "other.db"));
  const damaged = { why: "damaged", said: "file is not a database (SQLite 26)" };
  for (const [content, params] of [
    ["no database at all ".repeat(300), damaged],
    ["short", damaged],
    [foreign, { why: "foreign" }],
  ] as const) {
    writeFileSync(join(directory, "sessions.db"), content);
    assert.deepEqual(paramsOf(open(directory)), { storage_broken: params });
    assert.deepEqual(readFileSync(join(directory, "sessions.db")), Buffer.from(content));
  }
  rmSync(join(directory, "sessions.db"));
  mkdirSync(join(directory, "sessions.db"));
  assert.deepEqual(paramsOf(open(directory)), { storage_broken: { why: "not_a_file" } });
  assert.deepEqual(paramsOf(open(join(directory, "other.db"))), { storage_broken: { why: "place", said: "EEXIST" } });
});

test("a damaged page breaks the writes that need it, as a value, and nothing is thrown at others [Q2]", async (t) => {
  const directory = folder(t);
  await makeDatabase(directory);
  const path = join(directory, "sessions.db");
  const database = new DatabaseSync(path, { readOnly: true });
  const page = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'event'").get()?.rootpage;
  database.close();
  writeSync(openSync(path, "r+"), Buffer.alloc(4096, 0xee), 0, 4096, (Number(page) - 1) * 4096);
  const storage = unwrap(open(directory));
  t.after(() => storage.close());
  assert.deepEqual(paramsOf(await storage.append({ number: 1, events: facts("b") })), {
    storage_broken: { why: "damaged", said: "database disk image is malformed (SQLite 11)" },
  });
  await assert.rejects(readAll(storage, 1));
  assert.equal((await storage.conversationByNumber(1))?.id, "c");
});

test("a database that another program has locked is busy at once, and is written when it is free [Q2]", async (t) => {
  const directory = folder(t);
  await makeDatabase(directory);
  const first = startChild(t, "lock", directory);
  assert.equal(await first.line(), "locked");
  assert.equal(codeOf(open(directory)), "storage_busy");
  first.tell();
  assert.equal(await first.line(), "free");

  const watched = countedWaits();
  const storage = unwrap(open(directory, { clock: watched.clock }));
  t.after(() => storage.close());
  const second = startChild(t, "lock", directory);
  assert.equal(await second.line(), "locked");
  const refused = await Promise.all([1, 2].map(() => storage.append({ number: 1, events: facts("never") })));
  assert.deepEqual(refused.map(codeOf), ["storage_busy", "storage_busy"]);
  assert.ok(watched.count() > 0, "the process went on while it waited");
  assert.deepEqual(await readAll(storage, 1), stored(1, "a"));
  second.tell();
  assert.equal(await second.line(), "free");
  unwrap(await storage.append({ number: 1, events: facts("b") }));
  assert.deepEqual(await readAll(storage, 1), stored(1, "a", "b"));
});

test("a data directory that cannot be written is named, and works as soon as it can be [Q2]", async (t) => {
  const directory = folder(t);
  // Root may write everywhere; without this capability it is a user like others.
  const under = process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-dac_override"] : [];
  if (under.length > 0 && !runs(...under, "true"))
    return t.skip("root cannot give up its right to write everywhere here");
  const attempt = () => startChild(t, "open", directory, under).rest();

  chmodSync(directory, 0o555);
  assert.deepEqual(await attempt(), ["storage_read_only"]);
  chmodSync(directory, 0o755);
  await makeDatabase(directory);
  chmodSync(directory, 0o555);
  assert.deepEqual(await attempt(), ["storage_read_only"]);
  chmodSync(directory, 0o755);
  chmodSync(join(directory, "sessions.db"), 0o444);
  assert.deepEqual(await attempt(), ["storage_read_only"]);
  chmodSync(join(directory, "sessions.db"), 0o644);
  assert.deepEqual(await attempt(), ["ok", "ok"]);
  const storage = unwrap(open(directory));
  t.after(() => storage.close());
  assert.deepEqual(await readAll(storage, 1), stored(1, "a", "from the child"));
});

test("on a full disk nothing acknowledged is lost, a cancel is still recorded, and writing goes on when there is room [Q2]", async (t) => {
  // A mount of its own, gone with the process.
  const under = ["unshare", "--mount", ...(process.getuid?.() === 0 ? [] : ["--map-root-user"])];
  if (!runs(...under, "mount", "-t", "tmpfs", "none", folder(t))) return t.skip("no small disk can be mounted here");
  const [report = ""] = await startChild(t, "tmpfs", folder(t), under).rest();
  assert.deepEqual(JSON.parse(report), {
    hadReserve: true,
    code: "storage_full",
    hasReserve: false,
    cancel: "ok",
    isRenewed: true,
    isKept: true,
    after: "ok",
    hasReserveAgain: true,
    reopened: "ok",
    afterReopening: "ok",
    integrity: "ok",
  });
});

test("a process that is killed in the middle of writing has lost nothing that it acknowledged [L2]", async (t) => {
  const directory = folder(t);
  let highest = 0;
  for (let round = 1; round <= 3; round += 1) {
    const child = startChild(t, "append", directory);
    const acknowledged: (string | undefined)[] = [];
    while (acknowledged.length < 40 * round) acknowledged.push(await child.line());
    await child.kill();
    acknowledged.push(...(await child.rest()));
    highest = Math.max(highest, ...acknowledged.map(Number));
    const storage = unwrap(open(directory));
    const events = await readAll(storage, 1);
    await storage.close();
    assert.ok(events.length >= highest, `${events.length} of ${highest} are left`);
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, index) => index + 1),
    );
    assert.equal(events.length % 2, 0, "a batch is there as a whole or not at all");
  }
  const database = new DatabaseSync(join(directory, "sessions.db"));
  assert.equal(database.prepare("PRAGMA integrity_check").get()?.integrity_check, "ok");
  database.close();
});

function folder(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "faults-"));
  t.after(() => {
    chmodSync(directory, 0o755);
    rmSync(directory, { recursive: true });
  });
  return directory;
}

function open(
  directory: string,
  { busyTimeoutMs = 150, clock = systemClock }: { busyTimeoutMs?: number; clock?: Clock } = {},
): ReturnType<typeof openSqlite> {
  return openSqlite({ path: join(directory, "sessions.db"), clock, busyTimeoutMs });
}

function paramsOf(result: Result<unknown, Failure>): object {
  return result.ok ? {} : { [result.failure.code]: result.failure.params };
}

/** A clock that tells how often it was waited for: whoever waits by it holds up nobody. */
function countedWaits(): { clock: Clock; count(): number } {
  let waits = 0;
  const wait: Clock["wait"] = (ms, signal) => {
    waits += 1;
    return systemClock.wait(ms, signal);
  };
  return { clock: { ...systemClock, wait }, count: () => waits };
}

/** With conversation 1 and one event in it. */
async function makeDatabase(directory: string): Promise<void> {
  const storage: Storage = unwrap(open(directory));
  await storage.append({ number: await makeConversation(storage), events: facts("a") });
  await storage.close();
}

/** Every file but SQLite's shared memory, which readers make too. */
function contents(directory: string): Record<string, string> {
  const names = readdirSync(directory).filter((name) => !name.endsWith("-shm"));
  return Object.fromEntries(
    names.map((name) => [
      name,
      `${statSync(join(directory, name)).mtimeMs} ${readFileSync(join(directory, name), "base64")}`,
    ]),
  );
}

function runs(...command: string[]): boolean {
  const [program = "", ...args] = command;
  return spawnSync(program, args).status === 0;
}
