import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { bringIn } from "../../src/storage/postgres/bring-in.ts";
import { openPostgres } from "../../src/storage/postgres/postgres.ts";
import { fillCopy } from "../../src/storage/sqlite/fill-copy.ts";
import { readRows } from "../../src/storage/sqlite/read-rows.ts";
import { folderWith } from "../world/folder.ts";
import { cannotStore, postgresServer } from "../world/postgres-server.ts";
import { makeFixture, readContents } from "./fixture.ts";
import { alice, codeOf, facts, idOf, makeConversation, morning, unwrap } from "./storage-place.ts";

test("a database with everything in it is moved to PostgreSQL and back to a file to the letter, once, and counting goes on [N1][P2][Q3]", {
  skip: cannotStore,
}, async (t) => {
  const folder = folderWith(t, {});
  const [path, copy] = [join(folder, "sessions.db"), join(folder, "copy.db")];
  const contents = await makeFixture(path);
  const before = [...readRows(path)];
  const url = (await postgresServer()).newPlace();
  const place = { url, synchronous: "full", statementMsMax: 60_000, clock: systemClock } as const;
  const moved = unwrap(await bringIn(place, () => readRows(path)));
  assert.equal(codeOf(await bringIn(place, () => readRows(path))), "database_not_empty");

  // One fact that somebody told is something, too.
  const small = { ...place, url: (await postgresServer()).newPlace() };
  const other = unwrap(await openPostgres({ ...small, fillCopy }));
  unwrap(await other.putMemory({ owner: alice, id: "m", fact: "likes tea", conversation: "c", at: morning }));
  await other.close();
  assert.equal(codeOf(await bringIn(small, () => readRows(path))), "database_not_empty");

  const storage = unwrap(await openPostgres({ url, clock: systemClock, now: () => morning, fillCopy }));
  t.after(() => storage.close());
  assert.deepEqual(await readContents(storage), contents);
  assert.deepEqual(unwrap(await storage.copyTo(copy)), moved);
  assert.deepEqual(sorted([...readRows(copy)]), sorted(before));
  assert.ok(before.length > 15, "and there was something in each table");

  const numbers = before.flatMap(({ table, rows }) => (table === "conversation" ? rows.map(([number]) => number) : []));
  const next = await makeConversation(storage, "next", alice);
  assert.equal(next, Math.max(...numbers.map(Number)) + 1);
  const old = await storage.listConversations(alice, { limit: 9 });
  assert.deepEqual(
    old.map(({ id }) => id),
    ["next"],
  );
  const [first = 0] = numbers.map(Number);
  const head = await storage.headOf(first);
  assert.equal(unwrap(await storage.append({ number: first, events: facts("more") })).lastSeq, head + 1);
  assert.equal(
    codeOf(await storage.createConversation({ owner: alice, id: idOf("next"), at: morning, events: [] })),
    "conversation_exists",
  );
});

/** The order of rows is nobody's business. */
function sorted(batches: readonly { readonly table: string; readonly rows: readonly (readonly unknown[])[] }[]) {
  const lines = batches.flatMap(({ table, rows }) => rows.map((row) => `${table} ${JSON.stringify(row.map(shown))}`));
  return lines.sort();
}

function shown(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value;
}
