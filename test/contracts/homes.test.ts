import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { type Homes, homesHere, openHomes } from "../../src/homes/homes.ts";
import { unshared } from "../../src/storage/sqlite/sharing.ts";
import { serverGoneMs } from "../../src/storage/storage.ts";
import { manualClock } from "../world/manual-clock.ts";

// Whoever asks for homes does not ask whether there are other servers: both kinds promise the same to one that is alone.
// What they promise to several stands in postgres-homes.test.ts.

const server = { id: "a", address: "127.0.0.1:1" };
const log = { error: assert.fail, warn: assert.fail };
const kinds: Readonly<Record<string, () => Promise<Homes>>> = {
  "of a process that has its data to itself": async () => homesHere,
  "of a server among others, while there are none": () =>
    openHomes({ storage: unshared, server, clock: manualClock(), log }),
};

for (const [which, open] of Object.entries(kinds))
  test(`homes ${which}: everything is at home here, counts as living, and nobody is gone or has taken anything [N1]`, async () => {
    const homes = await open();
    const heard: unknown[] = [];
    const hear = (what?: string) => void heard.push(what);
    const ends = [homes.onGone(hear), homes.onLost(hear), homes.onBack(hear)];
    assert.equal(homes.isFresh(), true);
    for (const key of ["c:1", "u:alice", "u:*", "c:1"] as const) {
      assert.deepEqual(await homes.homeOf(key), { isHere: true });
      assert.equal(await homes.holds(key), true);
    }
    // Doubt about somebody else changes nothing of what is here.
    homes.doubt("b");
    assert.deepEqual(await homes.homeOf("c:1"), { isHere: true });
    for (const end of ends) end();
    await homes.close();
    assert.deepEqual(heard, []);
  });

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
  const homes = await openHomes({ storage, server, clock, log });
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
