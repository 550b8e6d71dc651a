import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/world/manual-clock.ts";
import { testSettings } from "../../test/world/sandbox-settings.ts";
import type { Result } from "../base/result.ts";
import { OwnerId } from "../protocol/ids.ts";
import { openAdmission } from "./admission.ts";
import type { SandboxSettings } from "./sandbox.ts";

const [ann, ben, cas, dan] = ["ann", "ben", "cas", "dan"].map((name) => OwnerId.parse(name));

assert.ok(ann && ben && cas && dan);

type Take = () => { readonly taken: true } | "owner" | "machine" | "agent";

/** Those who may run something get it at once, whatever else it needs. */
function open(settings: Partial<SandboxSettings> = {}) {
  const clock = manualClock();
  const one = { executionsMax: 1, executionsPerOwnerMax: 1, waitMsMax: 5000 };
  const admission = openAdmission({ settings: { ...testSettings, ...one, ...settings }, clock });
  const { signal } = new AbortController();
  const enter = (owner: OwnerId, take: Take = () => ({ taken: true })) => admission.enter({ owner, signal, take });
  return { admission, clock, enter };
}

function told<T>(answer: Result<T, { readonly code: string; readonly params: object }>) {
  return answer.ok ? "there is room" : { code: answer.failure.code, ...answer.failure.params };
}

function ticket<T>(answer: Result<T, unknown>): T {
  assert.ok(answer.ok);
  return answer.value;
}

test("as many programs wait as the setting says, and only the next one is refused [X4]", () => {
  const { admission, enter } = open({ waitingMax: 2 });
  enter(ann);
  assert.deepEqual([told(enter(ben)), told(enter(cas))], ["there is room", "there is room"]);
  assert.deepEqual(told(enter(dan)), { code: "sandbox_full", retryAfterSeconds: 6 });
  assert.deepEqual(admission.count(), { running: 1, waiting: 2 });
});

test("where one may wait anybody can be that one, and where more may, one user is never all of them [X4]", () => {
  const { enter } = open({ waitingMax: 1 });
  enter(ann);
  assert.equal(told(enter(ann)), "there is room");
  assert.deepEqual(told(enter(ben)), { code: "sandbox_full", retryAfterSeconds: 4 });
  const wider = open({ waitingMax: 3 });
  for (let count = 0; count < 3; count += 1) assert.equal(told(wider.enter(ann)), "there is room");
  const busy = { code: "sandbox_busy", kind: "waiting", limit: 3, setting: "sandbox.waiting_max" };
  assert.deepEqual(told(wider.enter(ann)), { ...busy, retryAfterSeconds: 6 });
  assert.equal(told(wider.enter(ben)), "there is room");
});

test("where nobody may wait, who is refused is told what there is enough of [X4][P5]", () => {
  const { enter } = open({ waitingMax: 0, executionsMax: 9, executionsPerOwnerMax: 9 });
  enter(ann);
  const refusals = (["machine", "owner", "agent"] as const).map((reason) => told(enter(ann, () => reason)));
  const busy = { code: "sandbox_busy", retryAfterSeconds: 1 };
  assert.deepEqual(refusals, [
    { code: "sandbox_full", retryAfterSeconds: 1 },
    { ...busy, kind: "sandboxes", limit: testSettings.guestsPerOwnerMax, setting: "sandbox.guests_per_user_max" },
    { ...busy, kind: "waiting", limit: 1, setting: "sandbox.waiting_max" },
  ]);
});

test("who waits for a sandbox of their own keeps no other user from running, and is not overtaken by their own next one [X4]", async () => {
  const { admission, enter } = open({ executionsMax: 2 });
  let isFree = false;
  const first = ticket(enter(ann, () => (isFree ? { taken: true } : "owner")));
  const second = ticket(enter(ann));
  ticket(enter(ben));
  assert.deepEqual(admission.count(), { running: 1, waiting: 2 });
  isFree = true;
  admission.look();
  assert.deepEqual(await first.ready, { ok: true, value: true });
  assert.deepEqual(admission.count(), { running: 2, waiting: 1 });
  first.leave();
  assert.deepEqual(await second.ready, { ok: true, value: true });
});

test("who is refused is told to come again later where programs take long of late, and never later than in a minute [X4]", () => {
  const { clock, enter } = open({ waitingMax: 0 });
  const refusedAfter = (ms: number) => {
    const running = ticket(enter(ann));
    clock.move(ms);
    running.leave();
    const next = ticket(enter(ann));
    const refused = told(enter(ben));
    next.leave();
    return refused;
  };
  const full = (retryAfterSeconds: number) => ({ code: "sandbox_full", retryAfterSeconds });
  assert.deepEqual([refusedAfter(102_000), refusedAfter(10_000_000)], [full(12), full(60)]);
});

test("a program that had to wait for its turn gives it back, also where it ran for longer than anybody may wait [X4]", async () => {
  const { admission, clock, enter } = open();
  const [first, second] = [ticket(enter(ann)), ticket(enter(ben))];
  first.leave();
  assert.deepEqual(await second.ready, { ok: true, value: true });
  clock.move(5000);
  assert.deepEqual(admission.count(), { running: 1, waiting: 0 });
  second.leave();
  assert.deepEqual(admission.count(), { running: 0, waiting: 0 });
});
