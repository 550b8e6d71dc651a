import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { until } from "../../test/world/events.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { good, greeter, makeTooDeep, openInstalls } from "../../test/world/played-installs.ts";
import type { Play } from "../../test/world/played-provider.ts";

// How installations end that take too much, too long, or lose what they need half way.

const left = { manager: "npm", name: "left", version: undefined } as const;
const both = {
  packages: [greeter, left],
  set: { packageIndex: "https://pypi.org/simple", npmRegistry: "https://npm.test" },
};
const why = (installed: Awaited<ReturnType<ReturnType<typeof openInstalls>["install"]>>) =>
  installed.ok || installed.failure.params;

test("an installation that takes too much room is ended while it is at it, and nothing of it is left [X5][X4]", async (t) => {
  const clock = manualClock();
  const { install, guests, own } = openInstalls(t, {
    clock,
    async play() {
      const [guest = assert.fail()] = guests;
      makeTooDeep(guest.wanted.workspace?.folder ?? assert.fail());
      clock.move(1000);
      await until("it is ended", () => guest.told.includes("close disk_full"));
      return { code: 0, how: "lost" };
    },
  });
  assert.deepEqual(why(await install()), { why: "room", said: "" });
  assert.deepEqual([guests[0]?.told, clock.timers()], [["close disk_full", "close done"], 0]);
  assert.deepEqual(readdirSync(own), ["current", "none"]);
});

test("an installation that has left too much at its end has failed, and nobody looks at it any more [X5][X4]", async (t) => {
  const clock = manualClock();
  const { install, guests, own } = openInstalls(t, {
    clock,
    play(execution) {
      if (execution.code.includes("pip list")) makeTooDeep(guests[0]?.wanted.workspace?.folder ?? assert.fail());
      return good(execution);
    },
  });
  assert.deepEqual(why(await install()), { why: "room", said: "" });
  assert.deepEqual([guests[0]?.told, clock.timers(), readdirSync(own)], [["close done"], 0, ["current", "none"]]);
});

test("all of an installation has the time that was given, and the list of what is there has its own [X5][X4]", async (t) => {
  const clock = manualClock();
  const times = async (tookMs: number) => {
    const given: number[] = [];
    const play: Play = ({ code, timeoutMs, ...execution }) => {
      given.push(timeoutMs);
      if (code.includes("pip install")) clock.move(tookMs);
      return code.includes("npm ls") ? { code: 0, says: "{}" } : good({ ...execution, code, timeoutMs });
    };
    assert.equal((await openInstalls(t, { ...both, clock, play }).install()).ok, true);
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

test("an installation whose registry is taken away half way is called off, as a whole [X5]", async (t) => {
  const { install, rules, own } = openInstalls(t, {
    ...both,
    play(execution) {
      Object.assign(rules, { npmRegistry: undefined });
      return good(execution);
    },
  });
  assert.deepEqual([why(await install()), readdirSync(own)], [{ why: "cancelled", said: "" }, ["current", "none"]]);
});

test("a mistake of ours while packages are installed is told as that, not as a disk that is full [X5][Q2]", async (t) => {
  const provider = { open: () => Promise.reject(new Error("a mistake")) };
  const { install } = openInstalls(t, { play: good, provider });
  assert.deepEqual(why(await install()), { why: "lost", said: "" });
});

test("packages are installed when nothing of an earlier process is left, by programs that hear when they are called off [X5][X3]", async (t) => {
  const [reaped, { signal }] = [Promise.withResolvers<void>(), new AbortController()];
  const heard = new Set<AbortSignal | undefined>();
  const { install, guests } = openInstalls(t, {
    reaped: reaped.promise,
    play(execution) {
      heard.add(execution.signal);
      return good(execution);
    },
  });
  const installed = install(signal);
  for (let loop = 0; loop < 20; loop += 1) await nextLoop();
  assert.deepEqual(guests, []);
  reaped.resolve();
  assert.equal((await installed).ok, true);
  assert.deepEqual(heard, new Set([signal]));
});
