import assert from "node:assert/strict";
import { before } from "node:test";
import { setImmediate } from "node:timers/promises";
import { openHomes } from "../../src/homes/homes.ts";
import { unshared } from "../../src/storage/sqlite/sharing.ts";
import { serverGoneMs } from "../../src/storage/storage.ts";
import { until } from "../world/events.ts";
import { manualClock } from "../world/manual-clock.ts";
import { cannotStore, type PostgresServer, postgresServer, onPostgres as test } from "../world/postgres-server.ts";
import { a, b, listening, severalStorages } from "./several-storages.ts";
import { alice, morning, unwrap } from "./storage-place.ts";

// Moments in which two processes could each take itself for the home, or one could be ended by a word of somebody else.

const skip = cannotStore;
let server: PostgresServer;
before(async () => {
  if (skip) return;
  server = await postgresServer();
});

test("who comes back in the very moment in which its home is taken has it or has lost it, and never both have it [N1][L2]", async (t) => {
  const wanted = { count: 2, more: "&application_name=homes" };
  const { storages, clock, schema } = await severalStorages(t, server, wanted);
  const [one, two] = storages;
  await one.beat(a);
  await one.homeOf("c:1", "a");
  clock.set(morning + 3_000);
  await two.beat(b);
  // Somebody has the row for a moment: the one that takes it has seen who is gone, and waits.
  await using holder = await server.session();
  await holder.query("BEGIN");
  await holder.query(`SELECT 1 FROM "${schema}".home FOR UPDATE`);
  const taken = two.homeOf("c:1", "b");
  const waiting = async () => Number((await server.run(waitingSql)).rows[0].waiting);
  await until("it waits for the row", async () => (await waiting()) === 1);
  let isBack = false;
  const back = one.beat(a).then(async ({ wasGone }) => {
    const home = await one.homeOf("c:1", "a");
    isBack = true;
    return { wasGone, home };
  });
  await until("the other is back, or waits as well", async () => isBack || (await waiting()) === 2);
  await holder.query("COMMIT");
  const { wasGone, home } = await back;
  assert.deepEqual([wasGone, home], [true, await taken]);
});

const waitingSql = `SELECT count(*) AS waiting FROM pg_stat_activity
  WHERE application_name = 'homes' AND wait_event_type = 'Lock'`;

test("what strangers on the same database say on our channel is no word of ours, and ends nothing [N1][Q1]", async (t) => {
  const { storages } = await severalStorages(t, server, { count: 2, more: "&application_name=strangers" });
  const [one, two] = storages;
  const heard = listening(two);
  await until("it listens", async () => {
    unwrap(await one.tell("ready", ""));
    return heard.length > 0;
  });
  const channels = await server.run(
    "SELECT query FROM pg_stat_activity WHERE application_name = 'strangers' AND query LIKE 'LISTEN %'",
  );
  const [channel] = channels.rows.map(({ query }) => String(query).replace("LISTEN ", ""));
  heard.length = 0;
  for (const payload of ["", "nonsense", "7", "null", "{}", "[1]", "[1,2,3]", '["x",{},[]]', "[0,null,null]"])
    await server.run(`SELECT pg_notify('${channel}', '${payload}')`);
  unwrap(await one.tell("models", "alice"));
  await until("it hears", () => heard.length > 0);
  assert.deepEqual(heard, [{ topic: "models", key: "alice" }]);
});

test("what is stored of tool boxes and secrets, and who is no user any more, is told with the change itself, by its name [N1][T4][C6]", async (t) => {
  const { storages } = await severalStorages(t, server, { count: 2 });
  const [one, two] = storages;
  const heard = listening(two);
  await until("it listens", async () => {
    unwrap(await one.tell("ready", ""));
    return heard.length > 0;
  });
  const row = { owner: alice, createdAt: 0, updatedAt: 0 };
  unwrap(await one.putSecret({ ...row, name: "s".repeat(999), sealed: Uint8Array.of(1) }));
  unwrap(await one.dropSecret(alice, "token"));
  unwrap(await one.putToolbox({ ...row, id: "box", body: "{}" }, []));
  unwrap(await one.dropBoxTools(alice, "tools", ["a"]));
  unwrap(await one.dropToolbox(alice, "gone"));
  unwrap(await one.dropUser(alice));
  unwrap(await one.tell("end", ""));
  await until("it has heard all", () => heard.at(-1)?.topic === "end");
  assert.deepEqual(
    heard.filter(({ topic }) => topic !== "ready").map(({ topic, key }) => `${topic} ${key}`),
    [
      ...[`secrets ${"s".repeat(200)}`, "secrets token", "toolboxes box", "toolboxes tools", "toolboxes gone"],
      ...["users alice", "signed out alice *", "end "],
    ],
  );
});

const alone = { id: "a", address: "127.0.0.1:1" };
const quiet = { error: assert.fail, warn: assert.fail };
test("a server whose heartbeat is answered late counts from when it was sent: what others may have taken by then it asks for again [N1][L2]", async () => {
  const clock = manualClock();
  const answer = Promise.withResolvers<void>();
  const asked: string[] = [];
  let beats = 0;
  const storage: typeof unshared = {
    ...unshared,
    async beat(sender) {
      beats += 1;
      if (beats === 2) await answer.promise;
      return unshared.beat(sender);
    },
    homeOf(key, asker) {
      asked.push(key);
      return unshared.homeOf(key, asker);
    },
  };
  const homes = await openHomes({ storage, server: alone, clock, log: quiet });
  await homes.homeOf("c:1");
  clock.move(1_000);
  await homes.homeOf("c:1");
  assert.deepEqual([beats, asked], [2, ["c:1"]], "what is at home here is remembered while it counts as living");
  clock.move(serverGoneMs);
  answer.resolve();
  await setImmediate();
  assert.deepEqual([beats, homes.isFresh()], [2, false]);
  assert.deepEqual(await homes.homeOf("c:1"), { isHere: true });
  assert.deepEqual([beats, asked, homes.isFresh()], [3, ["c:1", "c:1"], true]);
  await homes.close();
});
