import assert from "node:assert/strict";
import { before, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { systemClock } from "../../src/base/clock.ts";
import { openHomes } from "../../src/homes/homes.ts";
import { openPostgres } from "../../src/storage/postgres/postgres.ts";
import { fillCopy } from "../../src/storage/sqlite/fill-copy.ts";
import { unshared } from "../../src/storage/sqlite/sharing.ts";
import { type Storage, serverGoneMs, type Told, toldTopics } from "../../src/storage/storage.ts";
import { until } from "../world/events.ts";
import { manualClock } from "../world/manual-clock.ts";
import { cannotStore, type PostgresServer, postgresServer, onPostgres as test } from "../world/postgres-server.ts";
import { a, b, c, listening, severalStorages } from "./several-storages.ts";
import { alice, bob, codeOf, facts, makeConversation, morning, unwrap } from "./storage-place.ts";

const skip = cannotStore;
let server: PostgresServer;
before(async () => {
  if (skip) return;
  server = await postgresServer();
});

test("who asks first has a home; the others hear where it is, however many ask in one moment [N1]", async (t) => {
  const { storages } = await place(t, 3);
  const [one, two, three] = storages;
  assert.deepEqual(await one.beat(a), { wasGone: true, living: [a] });
  assert.deepEqual(await two.beat(b), { wasGone: true, living: [a, b] });
  await three.beat(c);
  assert.deepEqual(await one.beat(a), { wasGone: false, living: [a, b, c] });
  assert.deepEqual(await one.homeOf("c:1", "a"), a);
  assert.deepEqual([await two.homeOf("c:1", "b"), await one.homeOf("c:1", "a")], [a, a]);
  const keys = Array.from({ length: 20 }, (_, index) => `c:${index + 2}`);
  const asked = await Promise.all(
    keys.map((key) => Promise.all([one.homeOf(key, "a"), two.homeOf(key, "b"), three.homeOf(key, "c")])),
  );
  for (const answers of asked) assert.equal(new Set(answers.map((home) => home?.id)).size, 1);
  assert.equal(asked.flat().includes(undefined), false);
});

test("a server that was not seen for three seconds of the database's clock is gone: its homes and leases are free at once [N1][L2]", async (t) => {
  const { storages, clock } = await place(t, 2);
  const [one, two] = storages;
  await one.beat(a);
  await two.beat(b);
  const number = await makeConversation(one);
  unwrap(await one.append({ number, events: facts("x"), with: { wake: { notBefore: morning } } }));
  await one.homeOf("c:1", "a");
  const { epoch } = unwrap(await one.claimLease(number, "a", 15_000));
  clock.set(morning + 2_999);
  await two.beat(b);
  assert.deepEqual(await two.homeOf("c:1", "b"), a);
  assert.equal(codeOf(await two.claimLease(number, "b", 15_000)), "fenced");
  assert.deepEqual(await two.dueWakes(5), []);
  clock.set(morning + 3_000);
  assert.deepEqual(await two.beat(b), { wasGone: false, living: [b] });
  assert.deepEqual(await two.homeOf("c:1", "b"), b);
  assert.deepEqual(
    (await two.dueWakes(5)).map((wake) => wake.number),
    [number],
  );
  assert.deepEqual(unwrap(await two.claimLease(number, "b", 15_000)), { epoch: epoch + 1, wasAbandoned: true });
  // Who was only slow hears that it was taken for gone, and can append nothing where another one works.
  assert.equal(await one.homeOf("c:2", "a"), undefined);
  assert.equal(codeOf(await one.append({ number, epoch, events: facts("stale") })), "fenced");
  assert.deepEqual(await one.beat(a), { wasGone: true, living: [b, a] });
  assert.deepEqual([await one.homeOf("c:1", "a"), await one.homeOf("c:2", "a")], [b, a]);
});

test("a server that leaves frees its homes and leases in that moment [N1][P3]", async (t) => {
  const { storages } = await place(t, 2);
  const [one, two] = storages;
  await one.beat(a);
  await two.beat(b);
  const number = await makeConversation(one);
  await one.homeOf("c:1", "a");
  await one.homeOf("u:alice", "a");
  const { epoch } = unwrap(await one.claimLease(number, "a", 15_000));
  unwrap(await one.leave("a"));
  assert.deepEqual([await two.homeOf("c:1", "b"), await two.homeOf("u:alice", "b")], [b, b]);
  assert.deepEqual(unwrap(await two.claimLease(number, "b", 15_000)), { epoch: epoch + 1, wasAbandoned: false });
  assert.deepEqual(await two.beat(b), { wasGone: false, living: [b] });
});

test("what waits is for the server that it is at home with; for all others when that one is gone or was buried [N1]", async (t) => {
  const { storages, clock } = await place(t, 2);
  const [one, two] = storages;
  await one.beat(a);
  await two.beat(b);
  const numbers = await Promise.all(["x", "y", "z"].map((id) => makeConversation(one, id)));
  for (const number of numbers) await one.append({ number, events: [], with: { wake: { notBefore: morning } } });
  const [x, y, z] = numbers;
  await one.homeOf(`c:${x}`, "a");
  await two.homeOf(`c:${y}`, "b");
  const due = async (id: string) => (await one.dueWakes(9, id)).map(({ number }) => number);
  assert.deepEqual([await due("a"), await due("b"), (await one.dueWakes(9)).length], [[x, z], [y, z], 3]);
  unwrap(await one.claimLease(x ?? 0, "a", 15_000));
  unwrap(await two.bury("a"));
  assert.deepEqual([await due("b"), (await two.beat(b)).living], [[x, y, z], [b]]);
  assert.deepEqual(unwrap(await two.claimLease(x ?? 0, "b", 15_000)), { epoch: 2, wasAbandoned: true });
  // One that was buried too early comes back.
  assert.equal((await one.beat(a)).wasGone, true);
  clock.set(morning + 1);
  assert.deepEqual((await one.beat(a)).living, [a, b]);
});

test("a new process takes the leases of those who do not live, and leaves those of the living [N1][L2]", async (t) => {
  const { storages } = await place(t, 2);
  const [one, two] = storages;
  const [living, dead] = [await makeConversation(one, "living"), await makeConversation(one, "dead")];
  await one.beat(a);
  unwrap(await one.claimLease(living, "a", 60_000));
  unwrap(await one.claimLease(dead, "of an older version", 60_000));
  await two.expireLeases();
  assert.equal(codeOf(await two.claimLease(living, "b", 60_000)), "fenced");
  assert.equal(codeOf(await two.claimLease(dead, "b", 60_000)), "ok");
});

test("a clock of the database that was set back by a day keeps no dead server alive [N1][Q2]", async (t) => {
  const { storages, clock } = await place(t, 2);
  const [one, two] = storages;
  await one.beat(a);
  await two.beat(b);
  await one.homeOf("c:1", "a");
  clock.set(morning - 86_400_000);
  await two.beat(b);
  assert.deepEqual(await two.homeOf("c:1", "b"), b);
});

test("the first server says what all must have in common; it can be agreed on anew [N1]", async (t) => {
  const { storages } = await place(t, 2);
  const [one, two] = storages;
  const answers = await Promise.all([one.agree("key", "1"), two.agree("key", "2"), one.agree("files", "3")]);
  const [key, same, files] = answers.map(unwrap);
  assert.deepEqual([key === same, key === "1" || key === "2", files], [true, true, "3"]);
  assert.equal(unwrap(await two.agreeAnew("key", "5", () => false)), false);
  assert.equal(unwrap(await two.agreeAnew("key", "4", ({ servers }) => servers.length === 0)), true);
  assert.equal(unwrap(await one.agree("key", "1")), "4");
});

test("what one tells all others hear, in order, and it itself does not; another schema hears nothing [N1]", async (t) => {
  const { storages } = await place(t, 3);
  const [one, two, three] = storages;
  const stranger = unwrap(await openPostgres({ url: server.newPlace(), clock: systemClock, fillCopy }));
  t.after(() => stranger.close());
  const heard = [one, two, three, stranger].map(listening);
  await until("all listen", async () => {
    unwrap(await three.tell("ready", ""));
    unwrap(await two.tell("ready", ""));
    return heard.slice(0, 3).every((told) => told.length > 0);
  });
  await stranger.addressSeen();
  unwrap(await one.tell("models", "alice"));
  unwrap(await one.tell("models", "é\u0001 ' \" 中"));
  await until("two have heard", () => [1, 2].every((index) => told(heard[index]).length === 2));
  assert.deepEqual(told(heard[1]), ["models alice", "models é\u0001 ' \" 中"]);
  assert.deepEqual(told(heard[2]), told(heard[1]));
  assert.deepEqual([told(heard[0]), heard[3]], [[], []]);
});

test("who was cut off hears of a gap as soon as it can hear again, and then all that is told [N1][Q2]", async (t) => {
  const { storages } = await place(t, 2, "&application_name=listening");
  const [one, two] = storages;
  const heard = listening(two);
  await until("it listens", async () => {
    unwrap(await one.tell("ready", ""));
    return heard.length > 0;
  });
  await server.run(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'listening' AND query LIKE 'LISTEN%'",
  );
  await until("it knows of a gap", () => heard.some(({ topic }) => topic === "gap"));
  unwrap(await one.tell("models", "alice"));
  await until("it hears", () => told(heard).length === 1);
});

test("whose key or sign-in was taken away is told with the change itself, to all who may hold something open for them [N1][C6]", async (t) => {
  const { storages } = await place(t, 2);
  const [one, two] = storages;
  const heard = listening(two);
  await until("it listens", async () => {
    unwrap(await one.tell("ready", ""));
    return heard.length > 0;
  });
  // A link that is used up ends nothing: whose it is, is told of nothing.
  for (const [kind, owner] of [["cookie", alice] as const, ["link", bob] as const])
    unwrap(await one.putSignIn({ owner, kind, hash: kind, at: 0, endsAt: 1 }));
  const key = { id: "k", owner: alice, name: "", hash: "h", shown: "", scopes: [], at: 0 };
  unwrap(await one.putKey({ ...key, usedAt: undefined, endsAt: undefined }));
  heard.length = 0;
  for (const hash of ["cookie", "link", "none"]) unwrap(await one.dropSignIn(hash));
  for (const id of ["k", "k"]) unwrap(await one.dropKey(alice, id));
  unwrap(await one.dropSignIns({ owner: alice }));
  unwrap(await one.dropUser(alice));
  unwrap(await one.tell("end", ""));
  await until("it has heard all", () => heard.at(-1)?.topic === "end");
  const signedOut = heard.filter(({ topic }) => topic === toldTopics.signedOut).map(({ key: whose }) => whose);
  assert.deepEqual(signedOut, ["alice ", "alice k", "alice ", "alice *"]);
});

test("an execution without an end is open once its server does not live, and not before [N1][X4]", async (t) => {
  const { storages, clock } = await place(t, 2);
  const [one, two] = storages;
  await one.beat(a);
  const row = { id: "e", owner: alice, createdAt: 1, endedAt: undefined, body: "{}", full: undefined };
  unwrap(await one.putExecution(row, { isOnDisk: true, server: "a" }));
  unwrap(await one.putExecution({ ...row, id: "old" }));
  const open = async () => (await two.openExecutions(9)).map(({ id }) => id);
  assert.deepEqual(await open(), ["old"]);
  clock.set(morning + 3_000);
  assert.deepEqual(await open(), ["e", "old"]);
});

test("homes are asked for once and remembered; a server that ends or dies is heard of, and its homes are asked for anew [N1]", async (t) => {
  // Time stands still until somebody is to be missed: on a busy machine, too, nobody is before that.
  let since = Number.POSITIVE_INFINITY;
  const now = () => morning + Math.max(0, Math.floor(systemClock.monotonic() - since));
  const clock = { ...systemClock, now, monotonic: now };
  const { storages } = await place(t, 3, "", now);
  const [one, two, three] = await Promise.all(
    storages.map(async (storage, index) => {
      const counted = counting(storage);
      const log = { error() {}, warn() {} };
      const homes = await openHomes({ log, clock, storage: counted, server: [a, b, c][index] ?? a });
      return { homes, counted };
    }),
  );
  assert(one && two && three);
  assert.deepEqual(await one.homes.homeOf("c:1"), { isHere: true });
  assert.deepEqual(await three.homes.homeOf("c:2"), { isHere: true });
  const there = { isHere: false, server: "a", address: "host-a:1" };
  for (let times = 0; times < 3; times += 1) {
    assert.deepEqual(await two.homes.homeOf("c:1"), there);
    assert.deepEqual(await one.homes.homeOf("c:1"), { isHere: true });
  }
  assert.deepEqual([one.counted.asked, two.counted.asked], [1, 1]);
  two.homes.doubt("a");
  assert.deepEqual(await two.homes.homeOf("c:1"), there);
  assert.equal(two.counted.asked, 2);
  await two.homes.homeOf("c:2");
  // A beat that was on its way when it left may know it once more, for a moment.
  const gone = new Set<string>();
  two.homes.onGone((id) => gone.add(id));
  await one.homes.close();
  await until("it is heard of", () => gone.has("a"));
  assert.deepEqual(await two.homes.homeOf("c:1"), { isHere: true });
  // This one ends without a word.
  await storages[2].close();
  since = systemClock.monotonic();
  await until("it is missed", () => gone.size > 1);
  assert.deepEqual([[...gone], await two.homes.homeOf("c:2")], [["a", "c"], { isHere: true }]);
  await two.homes.close();
  assert.equal(two.homes.isFresh(), false);
});

test("a process that was held up asks again before it serves as a home, and hears what it lost [N1][L2]", async (t) => {
  const { move, ...clock } = manualClock();
  const { storages } = await place(t, 2, "", clock.now);
  const [one, two] = storages;
  // No timer of it comes.
  const heldUp = { ...clock, after: () => () => {} };
  const slow = await openHomes({ log: noFaults, clock: heldUp, storage: one, server: a });
  const lost: string[] = [];
  slow.onLost((key) => lost.push(key));
  await slow.homeOf("c:1");
  await slow.homeOf("c:2");
  move(2_399);
  assert.equal(slow.isFresh(), true);
  move(1);
  assert.equal(slow.isFresh(), false);
  move(600);
  await two.beat(b);
  await two.homeOf("c:1", "b");
  assert.deepEqual(await slow.homeOf("c:1"), { isHere: false, server: "b", address: "host-b:1" });
  assert.deepEqual([await slow.homeOf("c:2"), slow.isFresh()], [{ isHere: true }, true]);
  await until("it hears what it lost", () => lost.length > 0);
  assert.deepEqual(lost, ["c:1"]);
  // A clock that was set tells of a machine that slept.
  heldUp.now = () => 86_400_000;
  assert.equal(slow.isFresh(), false);
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
  const homes = await openHomes({ storage, server: alone, clock, log: noFaults });
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

const noFaults = { error: assert.fail, warn: assert.fail };

function place(t: TestContext, count: number, more = "", time?: () => number) {
  return severalStorages(t, server, { count, more, time });
}

function told(heard: readonly Told[] = []): string[] {
  return heard.filter(({ topic }) => topic === "models").map(({ topic, key }) => `${topic} ${key}`);
}

function counting(storage: Storage): Storage & { asked: number } {
  const counted = {
    ...storage,
    asked: 0,
    homeOf(key: string, asker: string) {
      counted.asked += 1;
      return storage.homeOf(key, asker);
    },
  };
  return counted;
}
