import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import { killingStorage } from "../world/killing-storage.ts";
import { startChild } from "./child.ts";
import { leasePromises } from "./storage-leases.ts";
import { logPromises } from "./storage-log.ts";
import { alice, facts, makeConversation, morning, openPlace, readAll, stored, unwrap } from "./storage-place.ts";

// Until it kills it is a storage like any other. Of the suite it runs what crash tests stand on.
for (const { says, holds } of [logPromises, leasePromises].flat()) {
  test(`a killing storage that does not kill: ${says}`, async (t) => {
    const directory = mkdtempSync(join(tmpdir(), "killing-"));
    t.after(() => rmSync(directory, { recursive: true }));
    const path = join(directory, "sessions.db");
    await using place = openPlace(async (clock) => killingStorage(unwrap(openSqlite({ path, clock })), {}));
    await holds(place);
  });
}

test("a killing storage ends the process when its write is on disk and nobody has heard of it [L2]", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "killing-"));
  t.after(() => rmSync(directory, { recursive: true }));
  assert.deepEqual(await startChild(t, "die", directory).rest(), ["a", "b"]);
  const storage = unwrap(openSqlite({ path: join(directory, "sessions.db"), clock: systemClock }));
  t.after(() => storage.close());
  assert.deepEqual(await readAll(storage, 1), stored(1, "a", "b", "c"));
});

test("whatever changes the database counts, and what was refused does not [L2]", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "counting-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const sqlite = unwrap(openSqlite({ path: join(directory, "sessions.db"), clock: systemClock }));
  t.after(() => sqlite.close());
  const written: string[] = [];
  const storage = killingStorage(sqlite, { onWritten: (name) => written.push(name) });
  const number = await makeConversation(storage);
  await Promise.all([1, 2, 3].map(() => storage.append({ number, events: facts("b") })));
  await storage.append({ number, epoch: 9, events: facts("fenced") });
  await readAll(storage, number);
  await storage.putMemory({ owner: alice, id: "m", fact: "tea", conversation: undefined, at: morning });
  assert.deepEqual(written, ["createConversation", "append", "append", "append", "putMemory"]);
});

test("after the kill nothing is answered and nothing is stored: it leaves what a killed process leaves [L2]", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "standing-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const sqlite = unwrap(openSqlite({ path: join(directory, "sessions.db"), clock: systemClock }));
  t.after(() => sqlite.close());
  const killed = Promise.withResolvers<void>();
  const storage = killingStorage(sqlite, { afterWrites: 2, kill: killed.resolve });
  const number = await makeConversation(storage);
  const heard: string[] = [];
  void storage.append({ number, events: facts("a") }).then(() => heard.push("append"));
  await killed.promise;
  void storage.append({ number, events: facts("b") }).then(() => heard.push("append"));
  void storage.headOf(number).then(() => heard.push("head"));
  assert.deepEqual([await readAll(sqlite, number), heard], [stored(1, "a"), []]);
});
