import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { ok } from "../../src/base/result.ts";
import { failure } from "../../src/protocol/failure.ts";
import type { Lack } from "../../src/sandbox/sandbox.ts";
import { until } from "../world/events.ts";
import { changedGuests, echo, isOver, openPlayed } from "./sandbox-service-played.ts";
import { alice, unwrap } from "./storage-place.ts";

// When a sandbox is started, what is held for it, and when it is gone.

test("no sandbox is started before all that an earlier process left is gone [X3][X4]", async (t) => {
  const left = Promise.withResolvers<void>();
  const reap = async () => {
    await left.promise;
    return { processes: 2, groups: 1, mounts: 0 };
  };
  const ground = await openPlayed(t, { provider: () => ({ reap }) });
  const run = ground.sandbox.run(await ground.place("c1"), echo);
  assert.equal(await isOver(run), false);
  assert.deepEqual(ground.played.guests, []);
  left.resolve();
  assert.equal((await unwrap(await run).report).how, "done");
  const said = 'sandboxes of an earlier run were ended {"processes":2,"groups":1,"mounts":0}';
  assert.ok(ground.logged.includes(said), ground.logged.join("\n"));
});

test("who leaves a conversation or a place goes on when its sandbox is gone, not before [S6]", async (t) => {
  const ends: (() => void)[] = [];
  const close = () => new Promise<void>((resolve) => ends.push(resolve));
  const ground = await openPlayed(t, { provider: changedGuests(() => ({ close })) });
  const place = await ground.place("c1");
  const ways = [() => ground.sandbox.leave(place.row.number), () => ground.sandbox.leavePlace(place)];
  for (const leave of ways) {
    await unwrap(await ground.sandbox.run(place, echo)).report;
    const left = leave();
    assert.equal(await isOver(left), false);
    for (const end of ends.splice(0)) end();
    await left;
  }
  const closed = ground.sandbox.close();
  for (const end of ends.splice(0)) end();
  await closed;
});

test("the files of a conversation are held for a sandbox as long as it lives, and no longer [X1][S6]", async (t) => {
  const ground = await openPlayed(t);
  const place = await ground.place("c1");
  const real = place.workspace ?? assert.fail();
  let held = 0;
  const guestFolder: typeof real.guestFolder = async () => {
    const found = unwrap(await real.guestFolder());
    held += 1;
    const release = () => {
      held -= 1;
      found.release();
    };
    return ok({ ...found, release });
  };
  const watched = { ...place, workspace: { ...real, guestFolder } };
  ground.played.fault = { why: "start_failed", said: "" };
  assert.equal((await ground.sandbox.run(watched, echo)).ok, false);
  assert.equal(held, 0, "one that did not start holds nothing");
  const { open } = ground.provider;
  ground.provider.open = () => Promise.reject(new Error("a mistake"));
  assert.equal((await ground.sandbox.run(watched, echo)).ok, false);
  assert.equal(held, 0, "nor one where a mistake was ours");
  ground.provider.open = open;
  await unwrap(await ground.sandbox.run(watched, echo)).report;
  assert.equal(held, 1);
  ground.played.guests[0]?.crash();
  await until("they are let go", () => held === 0);
});

test("a sandbox whose files are put in another place while it starts is started there, once [X1]", async (t) => {
  const ground = await openPlayed(t);
  const place = await ground.place("c1");
  const real = place.workspace ?? assert.fail();
  let looks = 0;
  /** At the first looks the folder is where it will not be found. */
  const movedAfter = (count: number) => ({
    ...place,
    workspace: {
      ...real,
      guestFolder: async () => {
        looks += 1;
        const found = unwrap(await real.guestFolder());
        return ok(looks > count ? found : { ...found, folder: join(found.folder, `gone-${looks}`) });
      },
    },
  });
  assert.equal((await unwrap(await ground.sandbox.run(movedAfter(1), echo)).report).how, "done");
  await ground.sandbox.leavePlace(place);
  looks = 0;
  const never = await ground.sandbox.run(movedAfter(99), echo);
  assert.deepEqual([never.ok || never.failure.code, looks], ["sandbox_start_failed", 3]);
});

test("who cannot have a sandbox is told what is missing by then, or when to come again [X3][P5]", async (t) => {
  const lack: Lack = { name: "no_engine", reason: "The engine is away.", fix: "Start it." };
  const ground = await openPlayed(t);
  const place = await ground.place("c1");
  const refused = async () => {
    const run = await ground.sandbox.run(place, echo);
    return run.ok || [run.failure.code, run.failure.params];
  };
  ground.played.fault = { why: "full", said: "" };
  assert.deepEqual(await refused(), ["sandbox_full", { retryAfterSeconds: 5 }]);
  const { open } = ground.provider;
  ground.provider.open = (wanted) => {
    ground.played.missing = [lack];
    ground.played.fault = { why: "unavailable", said: "" };
    return open(wanted);
  };
  assert.deepEqual(await refused(), [
    "sandbox_unavailable",
    { lack: "no_engine", reason: "The engine is away.", fix: "Start it." },
  ]);
});

test("of many conversations that begin at once a few sandboxes are made ready ahead, not all [X1][X4]", async (t) => {
  const begun = Promise.withResolvers<void>();
  const ground = await openPlayed(t, {
    settings: { guestsMax: 9, guestsPerOwnerMax: 9 },
    provider: (played) => ({
      async open(wanted) {
        await begun.promise;
        return played.open(wanted);
      },
    }),
  });
  for (const id of ["c1", "c2", "c3", "c4", "c5", "c6"]) {
    ground.sandbox.prewarm(await ground.place(id));
    await ground.sandbox.sessions.use(alice);
  }
  await until("the first are asked for", () => ground.provider.opened() >= 4);
  assert.deepEqual([await isOver(begun.promise), ground.sandbox.load().guests], [false, 4]);
  begun.resolve();
});

test("a sandbox that was made ready and that nobody used goes after its time, and keeps nobody waiting [X1][X4]", async (t) => {
  const ground = await openPlayed(t, { settings: { guestIdleMs: 200_000 } });
  const [idle, left] = [await ground.place("c1"), await ground.place("c2")];
  const warm = async ({ workspace = assert.fail(), ...place }: typeof idle) => {
    const looked = Promise.withResolvers<void>();
    const lookAhead: typeof workspace.lookAhead = async () => {
      looked.resolve();
      return ok(undefined);
    };
    ground.sandbox.prewarm({ ...place, workspace: { ...workspace, lookAhead } }, "python");
    assert.equal(await isOver(looked.promise), true);
  };
  await warm(idle);
  assert.equal(ground.played.guests[0]?.wanted.near, alice, "where others of the same user are");
  ground.clock.move(200_000);
  await until("it is gone", () => ground.played.living().length === 0);
  assert.deepEqual(ground.played.guests[0]?.told, ["warm root ", "close idle"]);
  await warm(left);
  await ground.sandbox.leave(left.row.number);
  assert.equal(ground.sandbox.load().guests, 0);
});

test("a Python that is at work is not dropped because another one beside it was idle for long [X1]", async (t) => {
  const ground = await openPlayed(t, { settings: { kernelIdleMs: 100_000, guestIdleMs: 10 ** 9 } });
  const [busy, idle] = [await ground.place("c1"), await ground.place("c1", alice, "helper")];
  const cell = { ...echo, language: "python" } as const;
  const run = unwrap(await ground.sandbox.run(busy, { ...cell, code: "long" }));
  await unwrap(await ground.sandbox.run(idle, cell)).report;
  ground.clock.move(100_000);
  const [guest = assert.fail()] = ground.played.guests;
  await until("the idle one is dropped", () => guest.told.length > 0);
  assert.deepEqual(guest.told, ["reset helper"]);
  ground.finish("long");
  await run.report;
});

test("a sandbox that is made ready gives its room away while its files are looked at, and a look that fails stands in the log [X1][X4]", async (t) => {
  const ground = await openPlayed(t, { settings: { guestsMax: 1, waitingMax: 0 } });
  const { workspace = assert.fail(), ...place } = await ground.place("c1");
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const lookAhead: typeof workspace.lookAhead = async () => {
    begun.resolve();
    await end.promise;
    return failure("write_failed", { path: ".", why: "io" });
  };
  ground.sandbox.prewarm({ ...place, workspace: { ...workspace, lookAhead } });
  await begun.promise;
  await unwrap(await ground.sandbox.run(await ground.place("c2"), echo)).report;
  assert.deepEqual(ground.played.living(), ["/workspace/c2"]);
  end.resolve();
  const said = 'files could not be looked at ahead {"code":"write_failed"}';
  await until("it is told", () => ground.logged.includes(said));
});

test("after a turn that left nothing behind nobody measures its files any more, and after one that left a Python somebody does [X4]", async (t) => {
  const ground = await openPlayed(t);
  const { workspace = assert.fail(), ...place } = await ground.place("c1");
  let looks = 0;
  const measure: typeof workspace.measure = (options) => {
    if (options?.moreBytes !== undefined) looks += 1;
    return workspace.measure(options);
  };
  const watched = { ...place, workspace: { ...workspace, measure } };
  const isWatchedAfter = async (language: "bash" | "python") => {
    await unwrap(await ground.sandbox.run(watched, { ...echo, language })).report;
    await ground.sandbox.endTurn(watched);
    looks = 0;
    for (let second = 0; second < 10; second += 1) {
      ground.clock.move(1000);
      await nextLoop();
    }
    return looks > 0;
  };
  assert.deepEqual([await isWatchedAfter("bash"), await isWatchedAfter("python")], [false, true]);
});

test("where isolation is missing no sandbox is made ready, nor a session for it [X3]", async (t) => {
  const ground = await openPlayed(t);
  ground.played.missing = [{ name: "no_bwrap", reason: "There is no bubblewrap.", fix: "Install it." }];
  ground.sandbox.prewarm(await ground.place("c1"), "python");
  for (let loop = 0; loop < 20; loop += 1) await nextLoop();
  assert.deepEqual([ground.provider.opened(), await ground.sandbox.sessions.find(alice)], [0, undefined]);
});
