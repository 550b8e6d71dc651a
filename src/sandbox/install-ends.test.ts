import assert from "node:assert/strict";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { until } from "../../test/world/events.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { installing, makeTooDeep, pip, pipPlay, wanted } from "../../test/world/played-installs.ts";
import { type Play, type PlayedGuest, playedProvider } from "../../test/world/played-provider.ts";
import { ok } from "../base/result.ts";
import { OwnerId } from "../protocol/ids.ts";
import type { Packages, PackagesWanted } from "./sandbox.ts";

// How installations end that take too much, too long, or lose what they need half way.

const ann = OwnerId.parse("ann");
const greeter = pip("greeter");
const left = { manager: "npm", name: "left", version: undefined } as const;
const good = pipPlay();

async function told({ install }: Packages, ...packages: PackagesWanted["packages"]) {
  const installed = await install(ann, wanted(...packages));
  return installed.ok ? "it is there" : { code: installed.failure.code, ...installed.failure.params };
}

function folderOf([guest]: readonly PlayedGuest[]): string {
  return guest?.wanted.workspace?.folder ?? assert.fail("there is a folder");
}

test("an installation that takes too much room is ended while it is at it, and nothing of it is left [X5][X4]", async (t) => {
  const clock = manualClock();
  const place = installing(
    t,
    async () => {
      makeTooDeep(folderOf(guests));
      clock.move(1000);
      await until("it is ended", () => guests[0]?.told.length === 1);
      return { code: 0, how: "lost" };
    },
    { clock },
  );
  const { packages, guests } = place.open();
  assert.deepEqual(await told(packages, greeter), { code: "packages_failed", why: "room", said: "" });
  assert.deepEqual(guests[0]?.told, ["close disk_full", "close done"]);
  assert.deepEqual(readdirSync(place.folderOf(ann)), ["current", "none"]);
});

test("an installation that has left too much at its end has failed, and nobody looks at it any more [X5][X4]", async (t) => {
  const clock = manualClock();
  const play: Play = (execution) => {
    if (execution.code.includes("pip list")) makeTooDeep(folderOf(guests));
    return good(execution);
  };
  const place = installing(t, play, { clock });
  const { packages, sessions, guests } = place.open();
  await sessions.use(ann);
  const timers = clock.timers();
  assert.deepEqual(await told(packages, greeter), { code: "packages_failed", why: "room", said: "" });
  assert.deepEqual([guests[0]?.told, clock.timers()], [["close done"], timers]);
  assert.deepEqual(readdirSync(place.folderOf(ann)), ["current", "none"]);
});

test("all of an installation has the time that was given, and the list of what is there has its own [X5][X4]", async (t) => {
  const clock = manualClock();
  const times = async (tookMs: number) => {
    const given: number[] = [];
    const play: Play = (execution) => {
      given.push(execution.timeoutMs);
      if (execution.code.includes("pip install")) clock.move(tookMs);
      return execution.code.includes("npm ls") ? { code: 0, says: "{}" } : good(execution);
    };
    const { packages } = installing(t, play, { clock, npmRegistry: "https://npm.test" }).open();
    assert.equal(await told(packages, greeter, left), "it is there");
    return given;
  };
  assert.deepEqual(
    [await times(400), await times(5000)],
    [
      [1000, 30_000, 600, 30_000],
      [1000, 30_000, 1, 30_000],
    ],
  );
});

test("an installation that ends while somebody looks how much room it takes is not looked at again [X5][X4]", async (t) => {
  const clock = manualClock();
  const play: Play = () => {
    clock.move(1000);
    return { code: 1, says: "no such package" };
  };
  const place = installing(t, play, { clock });
  const { packages, sessions } = place.open();
  await sessions.use(ann);
  const timers = clock.timers();
  assert.deepEqual(await told(packages, greeter), { code: "packages_failed", why: "index", said: "no such package" });
  // The look has had its turn by then.
  for (let look = 0; look < 20; look += 1) await statfs(place.folderOf(ann));
  assert.equal(clock.timers(), timers);
});

test("packages are there for programs when the sandbox that installed them is gone, and cannot write any more [X5]", async (t) => {
  const gone = Promise.withResolvers<void>();
  const asked: string[] = [];
  const played = playedProvider(good);
  const open: typeof played.open = async (order) => {
    const opened = await played.open(order);
    if (!opened.ok) return opened;
    const close = (why: string) => {
      asked.push(why);
      return gone.promise.then(() => opened.value.close(why));
    };
    return ok({ ...opened.value, close });
  };
  const place = installing(t, good, { provider: { open } });
  const { packages } = place.open();
  const installed = told(packages, greeter);
  await until("it is asked to go", () => asked.length === 1);
  for (let loop = 0; loop < 20; loop += 1) await nextLoop();
  const current = () => readlinkSync(join(place.folderOf(ann), "current"));
  assert.deepEqual([asked, current()], [["done"], "none"]);
  gone.resolve();
  assert.equal(await installed, "it is there");
  assert.notEqual(current(), "none");
});

test("an installation whose registry is taken away half way is called off, as a whole [X5]", async (t) => {
  const play: Play = (execution) => {
    Object.assign(place.network, { npmRegistry: undefined });
    return good(execution);
  };
  const place = installing(t, play, { npmRegistry: "https://npm.test" });
  const { packages } = place.open();
  assert.deepEqual(await told(packages, greeter, left), { code: "packages_failed", why: "cancelled", said: "" });
  assert.deepEqual(readdirSync(place.folderOf(ann)), ["current", "none"]);
});

test("a mistake of ours while packages are installed is told as that, not as a disk that is full [X5][Q2]", async (t) => {
  const provider = { open: () => Promise.reject(new Error("a mistake")) };
  const { packages } = installing(t, good, { provider }).open();
  assert.deepEqual(await told(packages, greeter), { code: "packages_failed", why: "lost", said: "" });
});

test("where no sandbox can be had for an installation it is told why, and when to come again [X5][P5]", async (t) => {
  const full = { ok: false, failure: { why: "full", said: "" } } as const;
  const place = installing(t, good, { provider: { open: async () => full } });
  assert.deepEqual(await told(place.open().packages, greeter), { code: "sandbox_full", retryAfterSeconds: 5 });
  assert.deepEqual(readdirSync(place.folderOf(ann)), ["current", "none"]);
});

test("packages are installed when nothing of an earlier process is left [X5][X3]", async (t) => {
  const reaped = Promise.withResolvers<void>();
  const reap = async () => {
    await reaped.promise;
    return { processes: 0, groups: 0, mounts: 0 };
  };
  const place = installing(t, good, { provider: { reap } });
  const { packages, guests } = place.open();
  const own = place.folderOf(ann);
  const installed = told(packages, greeter);
  await until("it has begun", () => existsSync(own) && readdirSync(own).length === 3);
  for (let loop = 0; loop < 20; loop += 1) await nextLoop();
  assert.deepEqual(guests, []);
  reaped.resolve();
  assert.equal(await installed, "it is there");
});
