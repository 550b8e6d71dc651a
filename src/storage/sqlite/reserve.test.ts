import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { folderWith } from "../../../test/world/folder.ts";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { openReserve } from "./reserve.ts";

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
