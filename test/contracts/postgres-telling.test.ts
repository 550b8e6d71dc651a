import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Present, Told } from "../../src/storage/storage.ts";
import { until } from "../world/events.ts";
import { cannotStore, type PostgresServer, postgresServer } from "../world/postgres-server.ts";
import { a, b, listening, severalStorages } from "./several-storages.ts";
import { alice, makeConversation, morning, unwrap } from "./storage-place.ts";

const skip = cannotStore;
let server: PostgresServer;
before(async () => {
  if (!cannotStore) server = await postgresServer();
});

test("who listens twice hears twice and ends one by one, and who has ended hears nothing more [N1]", {
  skip,
}, async (t) => {
  const { storages } = await severalStorages(t, server, { count: 2 });
  const [one, two] = storages;
  const heard: Told[] = [];
  const hear = (told: Told) => void (told.topic !== "ready" && heard.push(told));
  const ends = [two.onTold(hear), two.onTold(hear)];
  const all = listening(two);
  const tell = async (topic: string) => {
    unwrap(await one.tell(topic, "k"));
    await until(`${topic} is heard`, () => all.some((told) => told.topic === topic));
  };
  await until("it listens", async () => {
    unwrap(await one.tell("ready", ""));
    return all.length > 0;
  });
  await tell("first");
  ends[0]?.();
  ends[0]?.();
  await tell("second");
  ends[1]?.();
  await tell("third");
  assert.deepEqual(
    heard,
    ["first", "first", "second"].map((topic) => ({ topic, key: "k" })),
  );
  await assert.rejects(one.tell("text", "x".repeat(997)));
  unwrap(await one.tell("text", "x".repeat(996)));
  await until("the longest is heard", () => all.some(({ key }) => key.length === 996));
});

test("a server that has another address by now is found there, by its homes too, and keeps its place in the row [N1]", {
  skip,
}, async (t) => {
  const { storages, clock } = await severalStorages(t, server, { count: 2 });
  const [one, two] = storages;
  await one.beat(a);
  clock.set(morning + 1);
  await two.beat(b);
  await one.homeOf("c:1", "a");
  const moved = { ...a, address: "host-a:2" };
  clock.set(morning + 2);
  assert.deepEqual(await one.beat(moved), { wasGone: false, living: [a, b] });
  assert.deepEqual((await two.beat(b)).living, [moved, b]);
  assert.deepEqual(await two.homeOf("c:1", "b"), moved);
  clock.set(morning + 3_001);
  assert.deepEqual((await two.beat(b)).living, [moved, b], "it was seen when it told so");
});

test("whether something rests on what all have agreed on is seen in the moment in which it changes [N1][C6]", {
  skip,
}, async (t) => {
  const { storages } = await severalStorages(t, server, { count: 1 });
  const [storage] = storages;
  const presentNow = async () => {
    let seen: Present | undefined;
    const agreed = await storage.agreeAnew("key", "1", (present) => {
      seen = present;
      return false;
    });
    assert.equal(unwrap(agreed), false);
    return seen;
  };
  assert.deepEqual(await presentNow(), { servers: [], hasSecrets: false, hasFiles: false });
  await storage.beat(a);
  unwrap(await storage.putSecret({ owner: alice, name: "s", sealed: Uint8Array.of(1), createdAt: 1, updatedAt: 1 }));
  const number = await makeConversation(storage);
  const { folder } = unwrap(await storage.workspaceOf(number, { folder: "workspace/c", otherFolder: "x", at: 1 }));
  assert.deepEqual(await presentNow(), { servers: [a], hasSecrets: true, hasFiles: false });
  unwrap(await storage.updateWorkspace(folder, { madeAt: 1 }));
  assert.deepEqual(await presentNow(), { servers: [a], hasSecrets: true, hasFiles: true });
  assert.equal(unwrap(await storage.agree("key", "2")), "2", "nothing was agreed on so far");
});
