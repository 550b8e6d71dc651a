import assert from "node:assert/strict";
import { existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { folderWith } from "../../../test/world/folder.ts";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { systemClock } from "../../base/clock.ts";
import { ok } from "../../base/result.ts";
import { groupCommit } from "./group-commit.ts";
import { openReserve } from "./reserve.ts";

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

const full = { ok: false, failure: { code: "storage_full", params: {}, retryable: false } };

test("what finds no room is refused with all of its transaction, room is then given back once, and what is small is stored again [Q2][L2]", async () => {
  using database = new DatabaseSync(":memory:");
  database.exec("CREATE TABLE kept (n, data)");
  const told: string[] = [];
  const group = groupCommit({
    ...{ database, synchronous: "full", clock: systemClock, busyTimeoutMs: 0, onBegin: nothing },
    ...{ onRollback: () => told.push("rollback"), onCommit: () => told.push("commit") },
    onFull() {
      told.push("full");
      database.exec("PRAGMA max_page_count = 100");
    },
    onCommitted: () => told.push("committed"),
  });
  const insert = (n: number, bytes: number) =>
    group.write(() => ok(void database.prepare("INSERT INTO kept VALUES (?, zeroblob(?))").run(n, bytes)));
  assert.deepEqual(await insert(1, 1), ok(undefined));
  database.exec("PRAGMA max_page_count = 3");
  const tried = [insert(2, 1), insert(3, 100_000), insert(4, 1)];
  for (const one of tried) void one.then((answer) => told.push(answer.ok ? "done" : "refused"));
  assert.deepEqual(await Promise.all(tried), [full, full, full]);
  assert.deepEqual(await insert(5, 100_000), ok(undefined));
  assert.deepEqual(
    database
      .prepare("SELECT n FROM kept")
      .all()
      .map((row) => row.n),
    [1, 5],
  );
  const refused = ["rollback", "full", "refused", "refused", "refused"];
  assert.deepEqual(told, ["committed", "commit", ...refused, "committed", "commit"]);
});

test("where the reserve cannot be written storing begins without it, and it is made later [Q2]", (t) => {
  const folder = folderWith(t, {});
  const path = join(folder, "d");
  symlinkSync(join(folder, "not", "there"), `${path}.reserve`);
  using writer = new DatabaseSync(path);
  const clock = manualClock();
  const reserve = openReserve(path, writer, clock);
  assert.equal(existsSync(`${path}.reserve`), false);
  clock.move(30_000);
  reserve.restore();
  assert.equal(existsSync(`${path}.reserve`), true);
});

test("room that was given up is taken again after half a minute and not before; until then the log is not folded in [Q2]", (t) => {
  const path = join(folderWith(t, {}), "d");
  using writer = new DatabaseSync(path);
  const clock = manualClock();
  const reserve = openReserve(path, writer, clock);
  const state = () => [
    existsSync(`${path}.reserve`),
    writer.prepare("PRAGMA wal_autocheckpoint").get()?.wal_autocheckpoint,
  ];
  const [there, freed] = [
    [true, 1000],
    [false, 0],
  ];
  assert.deepEqual(state(), there);
  clock.move(90_000);
  reserve.free();
  for (const ms of [0, 29_999]) {
    clock.move(ms);
    reserve.restore();
    assert.deepEqual(state(), freed);
  }
  clock.move(1);
  reserve.restore();
  assert.deepEqual(state(), there);
});
