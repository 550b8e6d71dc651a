import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import type { EventType } from "../../src/protocol/events.ts";
import { copyRecord } from "../../src/storage/postgres/look-at-server.ts";
import { openPostgres } from "../../src/storage/postgres/postgres.ts";
import { fillCopy } from "../../src/storage/sqlite/fill-copy.ts";
import { lookAtRecord } from "../../src/storage/sqlite/look-at-record.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { folderWith } from "../world/folder.ts";
import { manualClock } from "../world/manual-clock.ts";
import { cannotStore, postgresServer } from "../world/postgres-server.ts";
import { alice, bob, fact, makeConversation, morning, unwrap } from "./storage-place.ts";

// What doctor reads to check the record of decisions, from a file and from a copy of what a server has.

const oldSql = "INSERT INTO old_decision VALUES ('from long ago')";

test("a check of decisions sees all that says whether somebody went on without one, what is still asked, what is old, and which rules may have lost their record [H2][P2]", async (t) => {
  const path = join(folderWith(t, {}), "sessions.db");
  const storage = unwrap(openSqlite({ path, clock: systemClock }));
  await fill(storage);
  await storage.close();
  using database = new DatabaseSync(path);
  database.exec(oldSql);
  assert.deepEqual(lookedAt(path), expected);
  // The first that is missing is named.
  database.exec(`DELETE FROM event WHERE id IN (${2 ** 24 + 3}, ${2 ** 24 + 5})`);
  assert.deepEqual(lookedAt(path).gaps, [{ number: 1, seq: 3 }]);
});

test("on a database server it sees the same [H2][P2][N1]", { skip: cannotStore }, async (t) => {
  const server = await postgresServer();
  const url = await server.emptyPlace();
  const storage = unwrap(await openPostgres({ url, clock: systemClock, fillCopy }));
  t.after(() => storage.close());
  await fill(storage);
  await server.run(`SET search_path = ${new URL(url).searchParams.get("schema")}; ${oldSql}`);
  const path = join(folderWith(t, {}), "copy.db");
  const place = { url, synchronous: "full", statementMsMax: 60_000, clock: systemClock } as const;
  const copied = await copyRecord(place, path, fillCopy);
  assert.deepEqual(copied.ok && copied.value, { conversations: 2, events: 10 });
  assert.deepEqual(lookedAt(path), expected);
});

test("a record that takes its time to be copied is copied to its end [P2][N1]", { skip: cannotStore }, async (t) => {
  const url = await (await postgresServer()).emptyPlace();
  const storage = unwrap(await openPostgres({ url, clock: systemClock, fillCopy }));
  t.after(() => storage.close());
  await fill(storage);
  const clock = manualClock();
  const place = { url, synchronous: "full", statementMsMax: 60_000, clock } as const;
  const copied = await copyRecord(place, join(folderWith(t, {}), "copy.db"), (path, batches) =>
    fillCopy(path, slowly(batches)),
  );
  assert.deepEqual(copied.ok && copied.value, { conversations: 2, events: 10 });

  async function* slowly<T>(batches: AsyncIterable<T>): AsyncGenerator<T> {
    for await (const batch of batches) {
      clock.move(60_000);
      yield batch;
    }
  }
});

const types: readonly EventType[] = [
  ...(["message.user", "decision.asked", "decision.made", "call.started", "call.finished"] as const),
  ...(["step.started", "turn.finished", "rewound"] as const),
];

async function fill(storage: Storage): Promise<void> {
  const number = await makeConversation(storage, "asked");
  const asked = [{ decision: "open", body: "{}" }];
  unwrap(await storage.append({ number, events: types.map((type) => fact("x", type)), with: { asked } }));
  // Where nobody was asked nothing is looked at, but what no program of ours has written.
  const other = await makeConversation(storage, "plain");
  const strange = { ...fact("x"), version: 2 };
  unwrap(await storage.append({ number: other, events: [fact("x", "call.started"), strange] }));
  for (const [owner, at] of [[alice, morning] as const, [bob, morning + 9] as const]) {
    const gone = await makeConversation(storage, "gone", owner);
    unwrap(await storage.append({ number: gone, events: [], with: { deleted: { at } } }));
  }
  const rule = { number: undefined, body: "{}" };
  for (const [owner, id, at] of [
    [alice, "before", morning],
    [alice, "after", morning + 1],
    [bob, "his", morning + 9],
  ] as const)
    unwrap(await storage.putRule({ ...rule, owner, id, at }));
}

const expected = {
  rows: [
    ...["1/2 decision.asked", "1/3 decision.made", "1/4 call.started", "1/6 step.started", "1/7 turn.finished"],
    ...["1/8 rewound", "2/2 message.user"],
  ],
  isOld: [true, false],
  isOpen: [true, false, false],
  owners: ["alice", "alice", "alice", "bob", undefined],
  ids: ["asked", "9"],
  rules: ["before true", "after false", "his true"],
  gaps: [],
};

function lookedAt(path: string) {
  const looked = lookAtRecord(path, (record) => ({
    rows: [...record.rows].map(({ number, seq, type }) => `${number}/${seq} ${type}`),
    isOld: ["from long ago", "open"].map(record.isOld),
    isOpen: [record.isOpen(1, "open"), record.isOpen(2, "open"), record.isOpen(1, "made")],
    owners: [1, 2, 3, 4, 9].map(record.ownerOf),
    ids: [1, 9].map(record.idOf),
    rules: [...record.rules].map(({ id, mayBeLost }) => `${id} ${mayBeLost}`),
    gaps: [...record.gaps],
  }));
  return unwrap(looked) ?? assert.fail("there is a record");
}
