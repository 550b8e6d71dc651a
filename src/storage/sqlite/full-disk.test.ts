import assert from "node:assert/strict";
import { existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { folderWith } from "../../../test/world/folder.ts";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { systemClock } from "../../base/clock.ts";
import { ok } from "../../base/result.ts";
import { groupCommit } from "./group-commit.ts";
import { openReserve } from "./reserve.ts";

const nothing = () => {};
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

test("a database that does not wait for the disk by itself is not made to by a quick write [L2][X1]", async () => {
  using database = new DatabaseSync(":memory:");
  database.exec("PRAGMA synchronous = normal");
  const level = () => ok(database.prepare("PRAGMA synchronous").get()?.synchronous);
  const group = groupCommit({
    ...{ database, synchronous: "normal", clock: systemClock, busyTimeoutMs: 0 },
    ...{ onBegin: nothing, onRollback: nothing, onCommit: nothing, onFull: nothing },
  });
  assert.deepEqual(await group.write(level, { isOnDisk: false }), ok(1));
  assert.deepEqual(await group.write(level), ok(1));
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

test("on a disk with no room the reserve is not taken, and the log not folded in [Q2]", () => {
  using writer = new DatabaseSync(":memory:");
  writer.exec("PRAGMA wal_autocheckpoint = 0");
  // This file system has no room at all.
  openReserve("/proc/agentyard.db", writer, manualClock());
  assert.equal(writer.prepare("PRAGMA wal_autocheckpoint").get()?.wal_autocheckpoint, 0);
});
