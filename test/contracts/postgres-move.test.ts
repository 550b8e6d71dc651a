import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { failure } from "../../src/protocol/failure.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { bringIn, lookIntoDatabase } from "../../src/storage/postgres/bring-in.ts";
import { openPostgres } from "../../src/storage/postgres/postgres.ts";
import { fillCopy } from "../../src/storage/sqlite/fill-copy.ts";
import { readRows } from "../../src/storage/sqlite/read-rows.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { folderWith } from "../world/folder.ts";
import { cannotStore, postgresServer } from "../world/postgres-server.ts";
import { makeFixture, readContents } from "./fixture.ts";
import { alice, codeOf, facts, idOf, makeConversation, morning, unwrap } from "./storage-place.ts";

test("a database with everything in it is moved to PostgreSQL and back to a file to the letter, once, and whatever is stored next has a number of its own [N1][P2][Q3]", {
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
  const kept = await counted(storage);
  await storeOneOfEach(storage, first);
  assert.deepEqual(
    await counted(storage),
    kept.map((count) => count + 1),
  );
});

/** What else has a number of its own: rules and facts, decisions and agents, programs, users, tools of a box. */
async function storeOneOfEach(storage: Storage, number: number): Promise<void> {
  const times = { createdAt: morning, updatedAt: morning };
  const user = { name: "Alice", password: undefined, isAdmin: false, subject: undefined };
  const box = { id: "box of hers", owner: alice, body: "{}", ...times };
  const side = { asked: [{ decision: "next", body: "{}" }], agents: [{ id: "next", parent: "root" }] };
  unwrap(await storage.putRule({ owner: localOwner, id: "next", number: undefined, body: "{}", at: morning }));
  unwrap(await storage.putMemory({ owner: localOwner, id: "next", fact: "likes tea", conversation: "c", at: morning }));
  unwrap(await storage.append({ number, events: [], with: side }));
  const over = { endedAt: morning, body: "{}", full: undefined };
  unwrap(await storage.putExecution({ id: "next", owner: localOwner, createdAt: morning, ...over }));
  unwrap(await storage.putUser({ id: alice, ...user, at: morning }));
  unwrap(await storage.putToolbox(box, [{ ...box, id: "next", box: box.id }]));
}

async function counted(storage: Storage): Promise<number[]> {
  const [{ number } = { number: 0 }] = await storage.listConversations(localOwner, { limit: 9 });
  const [rules, facts] = [await storage.listRules(localOwner, { limit: 9 }), await storage.listMemory(localOwner, 9)];
  const [decisions, agents] = [await storage.openDecisions(localOwner, 9), await storage.agentsOf(number)];
  const { total } = await storage.listExecutions(localOwner, { limit: 9, offset: 0 });
  const [users, tools] = [await storage.listUsers(9), await storage.listBoxTools(9)];
  return [...[rules, facts, decisions, agents, users, tools].map(({ length }) => length), total];
}

test("nothing is brought into a database while a server lives on it, or where the last step fails; what earlier servers agreed on goes [N1][Q3]", {
  skip: cannotStore,
}, async (t) => {
  const path = join(folderWith(t, {}), "sessions.db");
  await makeFixture(path);
  const url = (await postgresServer()).newPlace();
  const place = { url, synchronous: "full", statementMsMax: 60_000, clock: systemClock } as const;
  const storage = unwrap(await openPostgres({ ...place, fillCopy }));
  t.after(() => storage.close());
  unwrap(await storage.agree("files", "of an earlier one"));
  await storage.beat({ id: "alive", address: "127.0.0.1:7421" });
  const living = await bringIn(place, () => readRows(path));
  assert.deepEqual(living.ok || living.failure.params, { why: "in_use", said: "127.0.0.1:7421" });
  unwrap(await storage.leave("alive"));

  const broken = await bringIn(
    place,
    () => readRows(path),
    async () => failure("restore_failed", { why: "full" }),
  );
  assert.deepEqual(broken.ok || broken.failure.params, { why: "full" });
  assert.deepEqual(unwrap(await lookIntoDatabase(place)), { isUsed: false });
  assert.equal(unwrap(await storage.agree("files", "of another")), "of an earlier one");

  unwrap(await bringIn(place, () => readRows(path)));
  assert.deepEqual(unwrap(await lookIntoDatabase(place)), { isUsed: true });
  assert.equal(unwrap(await storage.agree("files", "of another")), "of another");
});

/** The order of rows is nobody's business. */
function sorted(batches: readonly { readonly table: string; readonly rows: readonly (readonly unknown[])[] }[]) {
  const lines = batches.flatMap(({ table, rows }) => rows.map((row) => `${table} ${JSON.stringify(row.map(shown))}`));
  return lines.sort();
}

function shown(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value;
}
