import assert from "node:assert/strict";
import { before, type TestContext } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { ok } from "../../src/base/result.ts";
import { openConnections } from "../../src/storage/postgres/connections.ts";
import { openLanes, type Transaction } from "../../src/storage/postgres/lanes.ts";
import { until } from "../world/events.ts";
import { cannotStore, type PostgresServer, postgresServer, onPostgres as test } from "../world/postgres-server.ts";
import { severalStorages } from "./several-storages.ts";
import { alice, codeOf, facts, idOf, makeConversation, morning, readAll, stored, unwrap } from "./storage-place.ts";

// Two servers that want the same in one moment: both wait for what a third one holds, and go on when it lets go.
let server: PostgresServer;
before(async () => {
  if (!cannotStore) server = await postgresServer();
});

type Several = Awaited<ReturnType<typeof severalStorages>>;

/** Begins `works` while somebody else has done `sql` and not ended it, and ends that when all of them wait for it. */
async function together<T>(schema: string, sql: string, works: readonly (() => Promise<T>)[]): Promise<T[]> {
  await using holder = await server.session();
  await holder.query(`BEGIN; SET LOCAL search_path = ${schema}; ${sql}`);
  const { rows } = await holder.query("SELECT pg_backend_pid() AS pid");
  const begun = works.map((work) => work());
  await until("all of them wait", async () => {
    // The second may wait for the first, which waits for the holder.
    const waiting = await server.run(`WITH RECURSIVE waiting AS (
        SELECT pid FROM pg_stat_activity WHERE ${rows[0].pid} = ANY (pg_blocking_pids(pid))
        UNION SELECT other.pid FROM pg_stat_activity AS other JOIN waiting ON waiting.pid = ANY (pg_blocking_pids(other.pid)))
      SELECT 1 FROM waiting`);
    return waiting.rowCount === works.length;
  });
  await holder.query("COMMIT");
  return Promise.all(begun);
}

const logOf = (number: number) => `SELECT 1 FROM log WHERE number = ${number} FOR UPDATE`;
const bothOf = <T>({ storages: [one, two] }: Several, work: (storage: typeof one, name: string) => Promise<T>) => [
  () => work(one, "one"),
  () => work(two, "two"),
];

test("of two servers that rest on the same state of a log one appends, and the other hears that it has moved [N1][L2]", async (t) => {
  const place = await severalStorages(t, server, { count: 2 });
  const number = await makeConversation(place.storages[0]);
  const append = bothOf(place, (storage, text) => storage.append({ number, expectedHead: 0, events: facts(text) }));
  const codes = (await together(place.schema, logOf(number), append)).map(codeOf);
  assert.deepEqual(codes.toSorted(), ["log_moved", "ok"]);
  assert.equal((await readAll(place.storages[0], number)).length, 1);
});

test("of two servers that want a conversation in one moment one has it, and the other hears so [N1][L2]", async (t) => {
  const place = await severalStorages(t, server, { count: 2 });
  const number = await makeConversation(place.storages[0]);
  const claim = bothOf(place, (storage, name) => storage.claimLease(number, name, 15_000));
  const claims = await together(place.schema, logOf(number), claim);
  assert.deepEqual(claims.map(codeOf).toSorted(), ["fenced", "ok"]);
  const [won] = claims.filter(({ ok }) => ok).map(unwrap);
  assert.deepEqual(won, { epoch: 1, wasAbandoned: false });
});

test("a message that comes to two servers at once is stored once, and both tell the same place of it [N1][L2]", async (t) => {
  const place = await severalStorages(t, server, { count: 2 });
  const number = await makeConversation(place.storages[0]);
  const send = bothOf(place, (storage) => storage.append({ number, events: facts("hi"), with: { received: "m" } }));
  const sent = await together(place.schema, logOf(number), send);
  assert.deepEqual(sent.map(unwrap), [{ lastSeq: 1 }, { lastSeq: 1 }]);
  assert.equal((await readAll(place.storages[0], number)).length, 1);
});

test("who makes a conversation while another server makes one of that id hears that there is one, and whoever deletes it is waited for [N1][L9]", async (t) => {
  const { storages, schema } = await severalStorages(t, server, { count: 2 });
  const [one] = storages;
  const wanted = { owner: alice, id: idOf("same"), at: morning, events: facts("mine") };
  const other = `INSERT INTO conversation (owner, id, title, small_title, origin, is_passing, last_message, turns, read_index,
    created_at, updated_at) VALUES ('alice', 'same', '', '', 'person', 0, '', 0, 0, 1, 1)`;
  const [made] = await together(schema, other, [() => one.createConversation(wanted)]);
  assert.equal(codeOf(made ?? assert.fail()), "conversation_exists");

  const number = await makeConversation(one, "deleted");
  const removal = `DELETE FROM log WHERE number = ${number}; UPDATE conversation SET deleted_at = 1 WHERE number = ${number}`;
  const late = await together(schema, removal, [
    async () => codeOf(await one.putBlob(number, Uint8Array.of(1))),
    async () => codeOf(await storages[1].append({ number, events: facts("late") })),
  ]);
  assert.deepEqual(late, ["conversation_not_found", "conversation_not_found"]);
});

/** Somebody has made the database refuse writes as if a row were locked. */
test("a log takes events up to the last place that it has, and of a batch that is too long none [N1][L2]", async (t) => {
  const { storages, schema } = await severalStorages(t, server, { count: 1 });
  const [one] = storages;
  const number = await makeConversation(one);
  const last = 2 ** 24 - 1;
  await server.run(`UPDATE ${schema}.log SET head = ${last - 2}`);
  await assert.rejects(one.append({ number, events: facts("a", "b", "c") }), /fewer than 2\^24/);
  assert.equal(await one.headOf(number), last - 2);
  assert.equal(unwrap(await one.append({ number, events: facts("a", "b") })).lastSeq, last);
  assert.deepEqual(await one.read(number, { after: last - 2, limit: 9 }), stored(last - 1, "a", "b"));
});

/** Nobody waits by the clock. */
const clock = { ...systemClock, wait: async () => "elapsed" as const };

function lanesOn(t: TestContext, onAppended: (number: number, lastSeq: number) => void = () => {}) {
  const place = { url: server.newPlace(), synchronous: "full", statementMsMax: 10_000 } as const;
  const connections = openConnections({ ...place, clock, connectionsMax: 2, awayMsMax: 10_000 });
  const lanes = openLanes({ connections, clock, onAppended });
  t.after(() => lanes.close().then(connections.close));
  return lanes;
}

const settingsSql = `SELECT current_setting('synchronous_commit') AS commit,
  current_setting('idle_in_transaction_session_timeout') AS idle`;

test("a write that need not wait for the disk of the server does not, unless another of its transaction does; none is left open for long [L2][N1][X1]", async (t) => {
  const lanes = lanesOn(t);
  const look = async ({ one }: Transaction) => ok({ ...(await one(settingsSql)) });
  const quick = { isOnDisk: false };
  const [waits, hurries] = [ok({ commit: "on", idle: "3s" }), ok({ commit: "off", idle: "3s" })];
  assert.deepEqual(await lanes.write("a", look, quick), hurries);
  assert.deepEqual(await lanes.write("a", look), waits);
  assert.deepEqual(await Promise.all([lanes.write("a", look, quick), lanes.write("a", look)]), [waits, waits]);
  assert.deepEqual(await lanes.write("a", look, quick), hurries);
});

test("what the server gave up because two stood in each other's way is done again, five times at the most [N1][Q2]", async (t) => {
  const lanes = lanesOn(t);
  for (const code of ["40P01", "40001"]) {
    let attempts = 0;
    const givenUp = (times: number) => async (query: Transaction) => {
      attempts += 1;
      if (attempts <= times) await query.exec(`DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${code}'; END $$`);
      return ok(attempts);
    };
    assert.deepEqual(await lanes.write("a", givenUp(5)), ok(6));
    attempts = 0;
    assert.deepEqual([codeOf(await lanes.write("a", givenUp(99))), attempts], ["storage_busy", 6]);
  }
});

test("who follows hears of what was committed, and of nothing that an attempt before it had written [N1][L2]", async (t) => {
  const heard: string[] = [];
  const lanes = lanesOn(t, (number, lastSeq) => heard.push(`${number} ${lastSeq}`));
  let attempts = 0;
  const write = async ({ appended, exec }: Transaction) => {
    attempts += 1;
    appended(attempts, 1);
    if (attempts === 1) await exec("DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '40001'; END $$");
    return ok(attempts);
  };
  assert.deepEqual(await lanes.write("a", write), ok(2));
  assert.deepEqual(heard, ["2 1"]);
});
