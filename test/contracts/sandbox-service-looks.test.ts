import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ok } from "../../src/base/result.ts";
import { failure } from "../../src/protocol/failure.ts";
import type { ProgramPlace, ProgramReport } from "../../src/sandbox/sandbox.ts";
import type { Workspace } from "../../src/workspace/workspace.ts";
import { until } from "../world/events.ts";
import { manualClock } from "../world/manual-clock.ts";
import { playedProvider } from "../world/played-provider.ts";
import { cannotStart } from "./sandbox-guests.ts";
import { openGround, report } from "./sandbox-service-place.ts";
import { changedGuests, openPlayed } from "./sandbox-service-played.ts";
import { unwrap } from "./storage-place.ts";

const played = { provider: playedProvider };
const echo = { language: "bash", code: "at once", timeoutMs: 1000 } as const;

test("what an earlier program still did in the background is told with the next one of the turn [X1][W12]", {
  skip: cannotStart,
}, async (t) => {
  const ground = await openGround(t);
  const place = await ground.place("c1");
  const told = "until [ -e temp/go ]; do sleep 0.02; done";
  const code = `(${told}; echo late > outputs/late.txt; touch temp/on; exec sleep 100) >/dev/null 2>&1 &`;
  assert.deepEqual(seen(await report(ground, place, "bash", code)), { paths: [], hadCompany: undefined });
  assert.equal((await place.workspace?.write("temp/go", ""))?.ok, true);
  await until("it has written", async () => (await place.workspace?.stat("temp/on"))?.ok === true);
  assert.deepEqual(seen(await report(ground, place, "bash", "echo 1 > outputs/own.txt")), {
    paths: ["outputs/late.txt", "outputs/own.txt", "temp/on"],
    hadCompany: true,
  });
  assert.deepEqual(await ground.sandbox.endTurn(place), [], "each change is told once");
});

test("what somebody changes on this machine between two turns is told of no program [W12]", async (t) => {
  const ground = await openGround(t, played);
  const place = await ground.place("c1");
  const run = async () => seen(await unwrap(await ground.sandbox.run(place, echo)).report);
  assert.deepEqual(await run(), { paths: [], hadCompany: undefined });
  assert.deepEqual(await ground.sandbox.endTurn(place), []);
  writeFileSync(join(await folderOf(place), "outputs", "edited.txt"), "by hand");
  assert.deepEqual(await run(), { paths: [], hadCompany: undefined });
});

test("files are looked at while the sandbox is prewarmed, and leaving the conversation breaks that off [X1][S6]", async (t) => {
  const ground = await openGround(t, played);
  const place = await ground.place("c1");
  const { promise: begun, resolve } = Promise.withResolvers<AbortSignal>();
  const lookAhead: Workspace["lookAhead"] = async ({ signal }) => {
    resolve(signal);
    await new Promise((ended) => signal.addEventListener("abort", ended));
    return ok(undefined);
  };
  ground.sandbox.prewarm({ ...place, workspace: place.workspace && { ...place.workspace, lookAhead } });
  const signal = await begun;
  assert.deepEqual([ground.sandbox.load(), signal.aborted], [{ guests: 1, running: 0, waiting: 0 }, false]);
  await ground.sandbox.leave(place.conversation ?? 0);
  assert.deepEqual([ground.sandbox.load().guests, signal.aborted], [0, true]);
});

test("a program does not start where far too much was written since the last count, and the next one does [X4]", async (t) => {
  const ground = await openGround(t, played);
  const place = await ground.place("c1");
  const { workspace } = place;
  assert.ok(workspace);
  let left = 0;
  const observe: Workspace["observe"] = async (options) => {
    const observation = unwrap(await workspace.observe(options));
    const measured = observation.measured();
    const leave = () => {
      left += 1;
      observation.leave();
    };
    return ok({ ...observation, leave, measured: () => measured && { ...measured, over: "files", isFarOver: true } });
  };
  const full = { ...place, workspace: { ...workspace, observe } };
  const limit = unwrap(await workspace.measure()).filesMax;
  assert.deepEqual(
    await ground.sandbox.run(full, echo),
    failure("quota_exceeded", { path: ".", what: "files", limit, setting: "workspace.files_max" }),
  );
  assert.equal(left, 1, "nobody will ask for its changes");
  assert.equal((await unwrap(await ground.sandbox.run(place, echo)).report).how, "done");
});

test("after a report that broke down the next program is alone again [X1]", async (t) => {
  const provider = changedGuests(({ run }) => ({
    run(execution) {
      if (execution.code === "breaks") throw new Error("a mistake");
      return run(execution);
    },
  }));
  const ground = await openPlayed(t, { provider });
  const place = await ground.place("c1");
  const { how } = await unwrap(await ground.sandbox.run(place, { ...echo, code: "breaks" })).report;
  const { hadCompany } = await unwrap(await ground.sandbox.run(place, echo)).report;
  assert.deepEqual([how, hadCompany], ["lost", undefined]);
});

test("a program that came to its own end was not ended by us, also where it had just taken too much [X4]", async (t) => {
  const [clock, guests] = [manualClock(), playedProvider()];
  const kills: string[] = [];
  const { open } = changedGuests(() => ({ kill: (id) => void kills.push(id) }))(guests);
  const provider = { ...guests, ...(open && { open }) };
  const ground = await openGround(t, { clock, limits: { bytesMax: 100_000 }, provider: () => provider });
  const place = await ground.place("c1");
  const run = unwrap(await ground.sandbox.run(place, { ...echo, code: "long" }));
  writeFileSync(join(await folderOf(place), "outputs", "much"), "x".repeat(200_000));
  await until("it is too much", () => {
    clock.move(1000);
    return kills.length > 0;
  });
  for (const program of guests.guests[0]?.running.values() ?? []) program.finish("done");
  const { how, isOverLimit } = await run.report;
  assert.deepEqual([how, isOverLimit], ["done", true]);
});

test("a program that was ended for want of room has failed, and its record says of what [X2][X4]", async (t) => {
  const [clock, guests] = [manualClock(), playedProvider()];
  const ground = await openGround(t, { clock, limits: { bytesMax: 100_000 }, provider: () => guests });
  const place = await ground.place("c1");
  const { executions } = ground.sandbox;
  const { id } = unwrap(await executions.submit(place, { ...echo, code: "long", conversationId: "c1" }));
  await until("it runs", () => guests.guests[0]?.running.size === 1);
  writeFileSync(join(await folderOf(place), "outputs", "much"), "x".repeat(200_000));
  const find = () => executions.find(place.owner, id);
  await until("it is ended", async () => {
    clock.move(1000);
    return (await find())?.endedAt !== undefined;
  });
  const record = await find();
  assert.deepEqual([record?.status, record?.report?.how, record?.wasCutOff], ["failed", "disk_full", false]);
});

function seen({ changes, hadCompany }: ProgramReport) {
  return { paths: changes.map(({ path }) => path), hadCompany };
}

async function folderOf({ workspace }: ProgramPlace): Promise<string> {
  return unwrap((await workspace?.guestFolder()) ?? assert.fail("the place has a workspace")).folder;
}
