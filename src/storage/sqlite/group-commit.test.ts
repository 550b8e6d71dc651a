import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { ok } from "../../base/result.ts";
import { groupCommit } from "./group-commit.ts";

const nothing = () => {};

test("a write that need not wait for the disk does not, unless another of its transaction does; the next one waits again [L2][X1]", async () => {
  using database = new DatabaseSync(":memory:");
  database.exec("PRAGMA synchronous = full");
  const waits = () => database.prepare("PRAGMA synchronous").get()?.synchronous === 2;
  const group = groupCommit({
    ...{ database, synchronous: "full", clock: systemClock, busyTimeoutMs: 0 },
    ...{ onBegin: nothing, onRollback: nothing, onCommit: nothing, onFull: nothing },
  });
  const look = () => ok(waits());
  const quick = { isOnDisk: false };

  assert.deepEqual(await group.write(look, quick), ok(false));
  assert.deepEqual(await group.write(look), ok(true));
  assert.deepEqual(await Promise.all([group.write(look, quick), group.write(look)]), [ok(true), ok(true)]);
  await assert.rejects(
    group.write(() => {
      throw new Error("a mistake");
    }, quick),
  );
  assert.equal(waits(), true);
  assert.deepEqual(await group.write(look), ok(true));
});

/** A database that another program locks, and time that passes only while it is waited for. */
function lockable(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "group-"));
  const [database, other] = [1, 2].map(() => new DatabaseSync(join(folder, "d"), { timeout: 0 }));
  if (database === undefined || other === undefined) return assert.fail();
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE kept (n)");
  t.after(() => {
    for (const one of [database, other]) one.close();
    rmSync(folder, { recursive: true });
  });
  let [now, waits] = [0, 0];
  let onWait = nothing;
  const clock = {
    ...systemClock,
    monotonic: () => now,
    async wait(ms: number) {
      now += ms;
      waits += 1;
      onWait();
      return "elapsed" as const;
    },
  };
  const group = groupCommit({
    ...{ database, synchronous: "full", clock, busyTimeoutMs: 100 },
    ...{ onBegin: nothing, onRollback: nothing, onCommit: nothing, onFull: nothing },
  });
  const insert = (n: number) => group.write(() => ok(void database.prepare("INSERT INTO kept VALUES (?)").run(n)));
  return {
    ...{ group, insert, waits: () => waits },
    lock: () => other.exec("BEGIN IMMEDIATE"),
    free: () => other.exec("ROLLBACK"),
    kept: () => database.prepare("SELECT n FROM kept").all(),
    onWait(then: () => void) {
      onWait = then;
    },
  };
}

const busy = { ok: false, failure: { code: "storage_busy", params: {}, retryable: true } };

test("each time the database is locked a write waits anew, as long as was said, and not what was left of the last time [Q2]", async (t) => {
  const { insert, lock, free, kept, waits, onWait } = lockable(t);
  lock();
  assert.deepEqual(await insert(1), busy);
  assert.equal(waits(), 4, "25 ms each, and no more than 100 in all");
  free();
  assert.deepEqual(await insert(2), ok(undefined));
  for (const n of [3, 4]) {
    lock();
    onWait(free);
    assert.deepEqual(await insert(n), ok(undefined));
    onWait(nothing);
  }
  assert.deepEqual(
    kept().map((row) => row.n),
    [2, 3, 4],
  );
});

test("who ends while the database is locked does not wait for it: what was to be written is refused [Q2][P3]", async (t) => {
  const { group, insert, lock, kept, onWait } = lockable(t);
  lock();
  onWait(group.close);
  assert.deepEqual(await insert(1), busy);
  assert.deepEqual(kept(), []);
  assert.throws(() => void insert(2));
});

/** A database in memory, and what the group tells of its transactions. */
function watched(t: TestContext) {
  const database = new DatabaseSync(":memory:");
  t.after(() => database.close());
  const told: string[] = [];
  const group = groupCommit({
    ...{ database, synchronous: "full", clock: systemClock, busyTimeoutMs: 0, onFull: nothing },
    ...{
      onBegin: () => told.push("begin"),
      onRollback: () => told.push("rollback"),
      onCommit: () => told.push("commit"),
    },
  });
  return { database, group, told };
}

test("who ends has everything written that was asked for, however much that is, and in its order [L2][P3]", async (t) => {
  const { database, group, told } = watched(t);
  database.exec("CREATE TABLE kept (n)");
  const insert = database.prepare("INSERT INTO kept VALUES (?)");
  const numbers = Array.from({ length: 2001 }, (_, index) => index);
  const written = numbers.map((n) => group.write(() => ok(insert.run(n).changes)));
  group.close();
  assert.deepEqual(
    database
      .prepare("SELECT n FROM kept ORDER BY rowid")
      .all()
      .map((row) => row.n),
    numbers,
  );
  for (const done of await Promise.all(written)) assert.deepEqual(done, ok(1));
  const times = (what: string) => told.filter((one) => one === what).length;
  assert.deepEqual([times("begin"), times("commit"), times("rollback")], [3, 3, 0], "a thousand at a time");
});

test("where a transaction cannot be ended for a mistake of ours nobody knows whose, all of it is refused, and the next one is done [L2]", async (t) => {
  const { database, group, told } = watched(t);
  database.exec(`PRAGMA foreign_keys = on; CREATE TABLE parent (id INTEGER PRIMARY KEY);
    CREATE TABLE child (of INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED)`);
  const insert = (sql: string) => group.write(() => ok(database.exec(sql)));
  const tried = await Promise.allSettled([
    insert("INSERT INTO parent VALUES (1)"),
    insert("INSERT INTO child VALUES (7)"),
    insert("INSERT INTO parent VALUES (2)"),
  ]);
  assert.deepEqual(
    tried.map(({ status }) => status),
    ["rejected", "rejected", "rejected"],
  );
  assert.deepEqual(await insert("INSERT INTO parent VALUES (3)"), ok(undefined));
  assert.deepEqual(
    database
      .prepare("SELECT id FROM parent")
      .all()
      .map((row) => row.id),
    [3],
  );
  assert.deepEqual(told, ["begin", "rollback", "commit", "begin", "commit"]);
});

test("of a transaction in which one made a mistake the others are done once, and followers hear of it when all have their answer [L2]", async (t) => {
  const { database, group, told } = watched(t);
  database.exec("CREATE TABLE kept (n UNIQUE)");
  const order: string[] = [];
  const insert = (n: number) =>
    group
      .write(() => ok(void database.prepare("INSERT INTO kept VALUES (?)").run(n)))
      .then(
        () => order.push(`${n} done`),
        () => order.push(`${n} refused`),
      );
  await Promise.all([1, 1, 2, 2, 3].map(insert));
  assert.deepEqual(order.toSorted(), ["1 done", "1 refused", "2 done", "2 refused", "3 done"]);
  assert.equal(database.prepare("SELECT count(*) AS n FROM kept").get()?.n, 3);
  assert.deepEqual(told, ["begin", "rollback", "begin", "rollback", "begin", "commit"]);
});
