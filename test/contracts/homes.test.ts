import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { systemClock } from "../../src/base/clock.ts";
import { openHomes } from "../../src/homes/homes.ts";
import { makeFailure } from "../../src/protocol/failure.ts";
import { openPostgres } from "../../src/storage/postgres/postgres.ts";
import { fillCopy } from "../../src/storage/sqlite/fill-copy.ts";
import { unshared } from "../../src/storage/sqlite/sharing.ts";
import { type Storage, StorageAway, serverGoneMs } from "../../src/storage/storage.ts";
import { until } from "../world/events.ts";
import { manualClock } from "../world/manual-clock.ts";
import { cannotStore, type PostgresServer, postgresServer } from "../world/postgres-server.ts";
import { a, b, c, listening, severalStorages } from "./several-storages.ts";
import { alice, codeOf, facts, makeConversation, morning, unwrap } from "./storage-place.ts";

// Moments in which two processes could each take itself for the home, or one could be ended by a word of somebody else.

const skip = cannotStore;
let server: PostgresServer;
before(async () => {
  if (skip) return;
  server = await postgresServer();
});

test("who comes back in the very moment in which its home is taken has it or has lost it, and never both have it [N1][L2]", {
  skip,
}, async (t) => {
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

test("a process that has left takes no home any more, and is not taken for a living one because somebody asked it [N1][P3]", {
  skip,
}, async (t) => {
  const { slow, two } = await heldUp(t);
  await slow.homeOf("c:1");
  await two.beat(b);
  await slow.close();
  for (const key of ["c:1", "c:2"] as const) await assert.rejects(slow.homeOf(key), StorageAway);
  assert.equal(await slow.holds("c:1"), false);
  assert.deepEqual((await two.beat(b)).living, [b]);
  assert.deepEqual([await two.homeOf("c:1", "b"), await two.homeOf("c:2", "b")], [b, b]);
});

test("what strangers on the same database say on our channel is no word of ours, and ends nothing [N1][Q1]", {
  skip,
}, async (t) => {
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

test("what is stored of tool boxes and secrets, and who is no user any more, is told with the change itself, by its name [N1][T4][C6]", {
  skip,
}, async (t) => {
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

test("of a server that has left, or is gone for more than a day, nothing is kept [N1][P3]", { skip }, async (t) => {
  const { storages, clock, schema } = await severalStorages(t, server, { count: 2 });
  const [one, two] = storages;
  const kept = async () => {
    const { rows } = await server.run(
      `SELECT key FROM "${schema}".home UNION SELECT id FROM "${schema}".server ORDER BY 1`,
    );
    return rows.map(({ key }) => key);
  };
  for (const each of [a, b, c]) await one.beat(each);
  for (const each of [a, b, c]) await one.homeOf(`u:${each.id}`, each.id);
  unwrap(await one.leave("a"));
  assert.deepEqual(await kept(), ["b", "c", "u:b", "u:c"]);
  clock.set(morning + 86_400_000);
  await two.beat(b);
  assert.deepEqual(await kept(), ["b", "c", "u:b", "u:c"]);
  clock.set(morning + 86_400_001);
  await two.beat(b);
  assert.deepEqual(await kept(), ["b", "u:b"]);
});

test("a server that stops in the middle of a write keeps nobody from going on with its conversation [N1][L2]", {
  skip,
}, async (t) => {
  const { storages, clock, url } = await severalStorages(t, server, { count: 1 });
  const [two] = storages;
  const line = await stallingLine(server);
  const stalled = unwrap(
    await openPostgres({ url: line.through(url), clock: systemClock, now: () => morning, fillCopy }),
  );
  t.after(async () => {
    await stalled.close();
    await line.close();
  });
  await stalled.beat(a);
  const number = await makeConversation(stalled);
  const { epoch } = unwrap(await stalled.claimLease(number, "a", 60_000));
  line.stallAfter("FOR UPDATE");
  const written = stalled.append({ number, epoch, events: facts("x") });
  await line.stalled;
  clock.set(morning + 3_000);
  await two.beat(b);
  assert.equal(unwrap(await two.claimLease(number, "b", 60_000)).epoch, epoch + 1);
  // It moves again, finds its connection gone, and tries once more.
  line.goOn();
  assert.equal(codeOf(await written), "fenced");
});

/** Stands between a storage and its server, and can hold back what is sent there. */
async function stallingLine({ folder }: PostgresServer) {
  const dir = mkdtempSync(join(tmpdir(), "line-"));
  const name = ".s.PGSQL.5432";
  const { promise: stalled, resolve } = Promise.withResolvers<void>();
  let word: string | undefined;
  const held: (() => void)[] = [];
  let isStalled = false;
  const proxy = createServer((from) => {
    const to = connect(join(folder, name));
    const end = () => {
      from.destroy();
      to.destroy();
    };
    from.on("error", end).on("close", end);
    to.on("error", end).on("close", end).pipe(from);
    let isHeld = false;
    from.on("data", (bytes: Buffer) => {
      if (isHeld) return void held.push(() => to.writable && to.write(bytes));
      to.write(bytes);
      if (isStalled || word === undefined || !bytes.includes(word)) return;
      [isHeld, isStalled] = [true, true];
      held.push(() => {
        isHeld = false;
      });
      resolve();
    });
  });
  proxy.listen(join(dir, name));
  await once(proxy, "listening");
  return {
    stalled,
    through: (url: string) => url.replace(encodeURI(folder), dir),
    stallAfter(text: string) {
      word = text;
    },
    goOn() {
      for (const send of held.splice(0)) send();
    },
    async close() {
      await new Promise((end) => proxy.close(end));
      rmSync(dir, { recursive: true });
    },
  };
}

/** A process whose timers never come, and what stands between it and the database. */
async function heldUp(t: TestContext) {
  const { move, ...clock } = manualClock();
  const { storages } = await severalStorages(t, server, { count: 2, time: clock.now });
  const [one, two] = storages;
  const storage = {
    ...one,
    isAway: (_: string): boolean => false,
    afterAnswer: async () => {},
    async homeOf(...asked: Parameters<Storage["homeOf"]>) {
      if (storage.isAway(asked[0])) throw new StorageAway(makeFailure("storage_busy", {}), undefined);
      const answer = await one.homeOf(...asked);
      const then = storage.afterAnswer;
      storage.afterAnswer = async () => {};
      await then();
      return answer;
    },
  };
  const errors: string[] = [];
  const log = { error: (what: string) => void errors.push(what) };
  const slow = await openHomes({ clock: { ...clock, after: () => () => {} }, log, storage, server: a });
  return { slow, two, storage, errors, clock: { move } };
}

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
