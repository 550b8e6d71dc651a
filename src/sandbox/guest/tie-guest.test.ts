import assert from "node:assert/strict";
import { test } from "node:test";
import { playSupervisor } from "./played-supervisor.testing.ts";
import { createOomCount, type GuestLife, tieGuest } from "./tie-guest.ts";

/** A guest whose supervisor and whose processes the test plays. */
async function tie() {
  const { guest: connection, far, clock } = await playSupervisor();
  const { promise: ended, resolve: die } = Promise.withResolvers<Awaited<GuestLife["ended"]>>();
  const kills: string[] = [];
  const guest = tieGuest(connection, {
    ...{
      ended,
      kill: () => void kills.push("killed"),
      sharedFiles: async () => new Set([7]),
      unnamedBytes: async () => 8,
    },
    usage: async () => ({ memoryBytes: 1, processes: 2, cpuMs: 3 }),
  });
  return { guest, far, clock, die, kills: () => kills.length };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("a guest that is closed is over when its processes are gone, which are ended with its connection [X1][X3]", async () => {
  const { guest, far, die, kills } = await tie();
  const told: string[] = [];
  void guest.ended.then(({ why }) => told.push(`ended: ${why}`));
  const closing = guest.close("idle").then(() => told.push("closed"));
  assert.deepEqual([await far.types(), kills()], [["shutdown"], 0]);
  far.end();
  await far.delivered();
  assert.deepEqual([told, kills()], [[], 1]);
  die({ code: 0, oomKills: 0 });
  await closing;
  assert.deepEqual(told, ["ended: idle", "closed"]);
});

test("a guest whose processes are gone has no connection any more, and is told what it used from outside [X1][X4]", async () => {
  const { guest, far, clock, die } = await tie();
  assert.deepEqual(
    [await guest.usage(), await guest.sharedFiles(), await guest.unnamedBytes(), guest.id],
    [{ memoryBytes: 1, processes: 2, cpuMs: 3 }, new Set([7]), 8, "g1"],
  );
  die({ code: 1, oomKills: 0 });
  assert.deepEqual(await far.types(), ["shutdown"]);
  clock.move(1000);
  assert.deepEqual([await guest.ended, guest.isOpen()], [{ why: "ended" }, false]);
});

test("that memory ran out is told of a guest that was killed for it, and of no other [X4]", async () => {
  const told: string[] = [];
  for (const [code, oomKills, why] of [
    [137, 1, "ended"],
    [137, 0, "ended"],
    [1, 1, "ended"],
    [null, 1, "ended"],
    [137, 1, "idle"],
  ] as const) {
    const { guest, far, die } = await tie();
    if (why !== "ended") void guest.close(why);
    await turn();
    die({ code, oomKills });
    far.end();
    told.push((await guest.ended).why);
  }
  assert.deepEqual(told, ["out_of_memory", "ended", "ended", "ended", "idle"]);
});

test("how often memory ran out is remembered when nobody can count it any more [X4]", () => {
  let read = 2;
  const count = createOomCount(() => read);
  const told = [count()];
  for (read of [3, 0]) told.push(count());
  assert.deepEqual(told, [2, 3, 3]);
});
