import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
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
