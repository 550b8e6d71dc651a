import assert from "node:assert/strict";
import { before, type TestContext, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { ok } from "../../src/base/result.ts";
import { openConnections } from "../../src/storage/postgres/connections.ts";
import { openLanes, type Transaction } from "../../src/storage/postgres/lanes.ts";
import { cannotStore, type PostgresServer, postgresServer } from "../world/postgres-server.ts";
import { codeOf } from "./storage-place.ts";

const skip = cannotStore;
let server: PostgresServer;
before(async () => {
  if (!cannotStore) server = await postgresServer();
});

/** Nobody waits by the clock. */
const clock = { ...systemClock, wait: async () => "elapsed" as const };

function lanesOn(
  t: TestContext,
  onAppended: (number: number, lastSeq: number) => void = () => {},
  onCommitted: (ms: number) => void = () => {},
) {
  const place = { url: server.newPlace(), synchronous: "full", statementMsMax: 10_000 } as const;
  const connections = openConnections({ ...place, clock, connectionsMax: 2, awayMsMax: 10_000 });
  const lanes = openLanes({ connections, clock, onAppended, onCommitted });
  t.after(() => lanes.close().then(connections.close));
  return lanes;
}

const settingsSql = `SELECT current_setting('synchronous_commit') AS commit,
  current_setting('idle_in_transaction_session_timeout') AS idle`;

test("a write that need not wait for the disk of the server does not, unless another of its transaction does; none is left open for long [L2][N1][X1]", {
  skip,
}, async (t) => {
  const lanes = lanesOn(t);
  const look = async ({ one }: Transaction) => ok({ ...(await one(settingsSql)) });
  const quick = { isOnDisk: false };
  const [waits, hurries] = [ok({ commit: "on", idle: "3s" }), ok({ commit: "off", idle: "3s" })];
  assert.deepEqual(await lanes.write("a", look, quick), hurries);
  assert.deepEqual(await lanes.write("a", look), waits);
  assert.deepEqual(await Promise.all([lanes.write("a", look, quick), lanes.write("a", look)]), [waits, waits]);
  assert.deepEqual(await lanes.write("a", look, quick), hurries);
});

test("what the server gave up because two stood in each other's way is done again, five times at the most [N1][Q2]", {
  skip,
}, async (t) => {
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

test("who follows hears of what was committed, and of nothing that an attempt before it had written [N1][L2]", {
  skip,
}, async (t) => {
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

test("how long a commit took is told for each that was made, and for none that failed; what follows in its lane waits for neither [N1][O1]", {
  skip,
}, async (t) => {
  const committed: number[] = [];
  const lanes = lanesOn(
    t,
    () => {},
    (ms) => committed.push(ms),
  );
  const done = (value: string) => async () => ok(value);
  assert.deepEqual(await Promise.all([lanes.write("a", done("one")), lanes.write("a", done("two"))]), [
    ok("one"),
    ok("two"),
  ]);
  assert.equal(committed.length, 1, "they share one");
  assert.ok(committed.every((ms) => ms >= 0));
  const busy = async ({ exec }: Transaction) => {
    await exec("DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '55P03'; END $$");
    return ok("never");
  };
  assert.equal(codeOf(await lanes.write("a", busy)), "storage_busy");
  assert.equal(committed.length, 1);
  const mistake = () => Promise.reject(new Error("our own"));
  const [wrong, right] = await Promise.allSettled([lanes.write("a", mistake), lanes.write("a", done("three"))]);
  assert.deepEqual([wrong.status, right.status === "fulfilled" && right.value], ["rejected", ok("three")]);
  assert.equal(committed.length, 2);
});
