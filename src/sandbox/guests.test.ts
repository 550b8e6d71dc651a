import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { manualClock } from "../../test/world/manual-clock.ts";
import { type PlayedProvider, playedProvider } from "../../test/world/played-provider.ts";
import { testSettings } from "../../test/world/sandbox-settings.ts";
import { quietLogger } from "../../test/world/workspace.ts";
import { systemIds } from "../base/ids.ts";
import { ok } from "../base/result.ts";
import { makeFailure } from "../protocol/failure.ts";
import { localOwner, OwnerId } from "../protocol/ids.ts";
import { noWorkspace, type Observation } from "../workspace/workspace.ts";
import { type Held, type NoGuest, openGuests, type PythonUse } from "./guests.ts";
import type { Guest } from "./provider.ts";
import type { SandboxSettings } from "./sandbox.ts";

// Guests that are held and let go, in time that the test moves; their files are what the test says.

function open(settings: Partial<SandboxSettings> = {}, change: (guest: Guest) => Partial<Guest> = () => ({})) {
  const [clock, played, logged] = [manualClock(), playedProvider(), [] as string[]];
  const provider: PlayedProvider = {
    ...played,
    async open(wanted) {
      const opened = await played.open(wanted);
      return opened.ok ? ok({ ...opened.value, ...change(opened.value) }) : opened;
    },
  };
  const guests = openGuests({
    ...{ provider, clock, logger: quietLogger(logged), ids: systemIds, reaped: Promise.resolve() },
    ...{ settings: { ...testSettings, ...settings }, network: { wayOut: () => undefined } },
    ...{ folderOf: async () => undefined, onRoom() {} },
  });
  const folder = { folder: "/", writable: "all", skills: undefined, uid: undefined, marks: {}, release() {} } as const;
  const placeOf = (id: string) => {
    const nothing = noWorkspace(id, makeFailure("workspace_not_assigned", { agent: "root" }));
    const workspace = { ...nothing, guestFolder: async () => ok({ ...folder, inside: `/workspace/${id}` }) };
    return { owner: localOwner, conversation: 1, workspace, agent: "root" };
  };
  const take = (id: string, python?: PythonUse) =>
    guests.take({ place: placeOf(id), session: { limits: testSettings.limits, env: {} } }, python);
  return { guests, clock, provider, logged, placeOf, take };
}

function held(answer: Held | NoGuest): Held {
  assert.ok(typeof answer !== "string", String(answer));
  return answer;
}

/** What was done to files and is not told yet; each change is told once. */
function files() {
  const untold: string[] = [];
  const observation: Observation = {
    ...{ hasEarlier: false, measured: () => undefined, leave() {} },
    changes: async () =>
      ok(untold.splice(0).map((path) => ({ path, before: undefined, after: undefined, lost: undefined }))),
  };
  return { observation, write: (path: string) => void untold.push(path) };
}

test("a sandbox that was let go twice and is used again makes no room for another one [X4]", async () => {
  const { take } = open({ guestsMax: 1 });
  const first = held(take("a"));
  await first.opened;
  first.release();
  first.release();
  held(take("a"));
  assert.equal(take("b"), "machine");
});

test("each workspace of each user has a sandbox of its own, which all of its agents share [X1][S5]", async () => {
  const { guests, provider, placeOf } = open({ guestsPerOwnerMax: 8 });
  const place = placeOf("a");
  const others = [
    { ...place, owner: OwnerId.parse("ann") },
    { ...place, conversation: 2 },
    { ...place, workspace: { ...place.workspace, id: "b" } },
    { ...place, workspace: { ...place.workspace, kind: "conversation" as const } },
    { ...place, conversation: undefined, workspace: undefined },
  ];
  for (const each of [place, { ...place, agent: "helper" }, ...others])
    await held(guests.take({ place: each, session: { limits: testSettings.limits, env: {} } })).opened;
  assert.equal(provider.guests.length, 1 + others.length);
});

test("what was done to files is told of each sandbox that ended before the turn, of the last ones where there are many [W12][X4]", async () => {
  const { guests, placeOf, take } = open();
  const leave = async (id: string, path: string, why: string) => {
    const [one, { observation, write }] = [held(take(id)), files()];
    await one.opened;
    await one.changes(observation);
    one.release();
    write(path);
    await guests.end(({ workspace }) => workspace?.id === id, why);
  };
  const toldOf = async (id: string) => (await guests.endTurn(placeOf(id))).map(({ path }) => path);
  await leave("a", "first", "stopped");
  await leave("a", "second", "idle");
  assert.deepEqual([await toldOf("a"), await toldOf("a")], [["first", "second"], []]);
  await leave("a", "nobody asks", "left");
  assert.deepEqual(await toldOf("a"), []);
  for (let count = 0; count <= 64; count += 1) await leave(`many-${count}`, "late", "stopped");
  assert.deepEqual([await toldOf("many-0"), await toldOf("many-1")], [[], ["late"]]);
});

test("the end of a turn waits for a sandbox that is just ending, and tells what was done in it before what was done in the next [W12]", async () => {
  const gone = Promise.withResolvers<void>();
  const { guests, placeOf, take } = open({}, ({ close }) => ({ close: (why) => gone.promise.then(() => close(why)) }));
  const [before, after] = [files(), files()];
  for (const { observation } of [before, after]) {
    const one = held(take("a"));
    await one.opened;
    await one.changes(observation);
    one.release();
    if (observation === before.observation) void guests.end(() => true, "stopped");
  }
  before.write("before");
  after.write("after");
  const told = guests.endTurn(placeOf("a"));
  await nextLoop();
  gone.resolve();
  assert.deepEqual(
    (await told).map(({ path }) => path),
    ["before", "after"],
  );
});

test("where a sandbox makes room for another one, that is started when it is gone [X4]", async () => {
  const gone = Promise.withResolvers<void>();
  const { provider, take } = open({ guestsMax: 1 }, ({ close }) => ({
    close: (why) => gone.promise.then(() => close(why)),
  }));
  const first = held(take("a"));
  await first.opened;
  first.release();
  const second = held(take("b"));
  await nextLoop();
  assert.deepEqual(provider.living(), ["/workspace/a"]);
  gone.resolve();
  assert.equal((await second.opened).ok, true);
  assert.deepEqual(provider.living(), ["/workspace/b"]);
});

test("a program whose sandbox ends under it tells what it did itself, and the turn does not tell it again [W12]", async () => {
  const { guests, provider, placeOf, take } = open();
  const [one, { observation, write }] = [held(take("a")), files()];
  await one.opened;
  await one.changes(observation);
  write("made");
  provider.guests[0]?.crash();
  await nextLoop();
  const told = await one.changes(observation);
  one.release();
  assert.deepEqual([told.map(({ path }) => path), await guests.endTurn(placeOf("a"))], [["made"], []]);
});
