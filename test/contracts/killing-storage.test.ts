import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import { countingStorage } from "../world/killing-storage.ts";
import { startChild } from "./child.ts";
import { alice, facts, idOf, makeConversation, morning, readAll, stored, unwrap } from "./storage-place.ts";

test("a killing storage ends the process when its append is on disk and nobody has heard of it [L2]", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "killing-"));
  t.after(() => rmSync(directory, { recursive: true }));
  assert.deepEqual(await startChild(t, "die", directory).rest(), ["a", "b"]);
  const storage = unwrap(openSqlite({ path: join(directory, "sessions.db"), clock: systemClock }));
  t.after(() => storage.close());
  assert.deepEqual(await readAll(storage, 1), stored(1, "a", "b", "c"));
});

test("a counting storage counts what a killing one would [L2]", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "counting-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const sqlite = unwrap(openSqlite({ path: join(directory, "sessions.db"), clock: systemClock }));
  t.after(() => sqlite.close());
  const { storage, appends } = countingStorage(sqlite);
  const number = await makeConversation(storage, "empty");
  await storage.createConversation({ owner: alice, id: idOf("full"), at: morning, events: facts("a") });
  await Promise.all([1, 2, 3].map(() => storage.append({ number, events: facts("b") })));
  await storage.append({ number, epoch: 9, events: facts("fenced") });
  assert.equal(appends(), 4);
});
