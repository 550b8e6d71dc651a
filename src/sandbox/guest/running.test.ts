import assert from "node:assert/strict";
import { test } from "node:test";
import { allOf, outcomeOf } from "../../../test/world/bare-supervisor.ts";
import { encodeFrame } from "./frames.ts";
import {
  beginSupervisor as begun,
  execution,
  exited,
  hello,
  playSupervisor as played,
} from "./played-supervisor.testing.ts";

test("a guest that says as much as it may in each second goes on [X1][Q2]", async () => {
  const { guest, far, clock } = await played();
  const frames = (count: number) =>
    far.raw(Buffer.concat(Array(count).fill(encodeFrame({ type: "started", id: "x" }))));
  frames(19_999); // And its greeting.
  await far.delivered();
  clock.move(1000);
  frames(20_000);
  await far.delivered();
  assert.deepEqual([guest.isOpen(), guest.dropped()], [true, 39_999]);
  clock.move(999);
  frames(1);
  assert.deepEqual(await guest.ended, { why: "flood" });
});

test("on another machine a folder is known by its inode alone [X1][X3]", async () => {
  const answers = ["9:2", "1:3", null].map(async (mark) => {
    const { connected, far } = begun({ marks: { "/workspace/c": "1:2" }, areMarksInodes: true });
    far.say({ ...hello, marks: [mark] });
    return (await connected).ok;
  });
  assert.deepEqual(await Promise.all(answers), [true, false, false]);
});

test("a reset is answered by the end of its own agent's Python, and whatever is asked of a guest that goes by nothing [X1]", async () => {
  const { guest, far } = await played();
  const told: string[] = [];
  const resets = ["a", "a", "b"].map((agent) => guest.reset(agent).then(() => told.push(agent)));
  far.say({ type: "kernel_lost", agent: "a", id: null, asked: true });
  await far.delivered();
  assert.deepEqual(told, ["a", "a"]);
  const answers = Promise.all([guest.ping(), guest.askUsage(), guest.endTurn(), ...resets]);
  await far.delivered();
  far.end();
  assert.deepEqual(await answers, [0, { memoryBytes: 0, processes: 0, cpuMs: 0 }, 0, 1, 2, 3]);
});

test("a cell that waits for another is cancelled before it begins, and only what ran has lost its Python [X1]", async () => {
  const { guest, far } = await played();
  const stop = new AbortController();
  const cell = async (id: string) => {
    const end = (await allOf(guest.run(execution({ id, language: "python", signal: stop.signal })))).at(-1);
    return end?.kind === "exited" && [end.how, end.isPythonLost, end.metrics.durationMs];
  };
  const ends = Promise.all(["runs", "interrupted", "killed"].map(cell));
  const waits = allOf(guest.run(execution({ id: "waits", language: "python" })));
  guest.interrupt("interrupted");
  guest.kill("killed");
  assert.deepEqual(await far.types(), ["exec"]);
  stop.abort();
  assert.deepEqual(await far.types(), ["interrupt"]);
  far.end();
  const early = ["cancelled", undefined, 0];
  assert.deepEqual(await ends, [["cancelled", true, 0], early, early]);
  assert.partialDeepStrictEqual(await waits, [{ kind: "exited", how: "lost" }]);
  assert.equal(Object.hasOwn((await waits)[0] ?? {}, "isPythonLost"), false);
});

test("how an execution ended follows from what was done to it [X1]", async () => {
  let oomKills = 0;
  const { guest, far } = await played({ oomKills: () => oomKills });
  const ends: string[] = [];
  const lost = (asked: boolean) => () => far.say({ type: "kernel_lost", agent: "a", id: "e", asked });
  const nothing = () => {};
  for (const [happens, code, signal] of [
    [() => guest.interrupt("e"), null, "SIGINT"],
    [() => guest.interrupt("e"), 130, null],
    [() => guest.interrupt("e"), 0, null],
    [nothing, 130, null],
    [lost(true), null, "SIGKILL"],
    [lost(false), null, "SIGKILL"],
  ] as const) {
    const outcome = outcomeOf(guest.run(execution({})));
    await far.delivered();
    happens();
    far.say({ ...exited, id: "e", code, signal });
    ends.push((await outcome).end);
  }
  const told = ["cancelled SIGINT", "cancelled 130", "done 0", "done 130", "killed SIGKILL", "lost SIGKILL"];
  assert.deepEqual(ends, told);
  const outcome = outcomeOf(guest.run(execution({})));
  oomKills += 1;
  far.end();
  assert.equal((await outcome).end, "out_of_memory undefined");
});

test("where memory ran out and took the guest along, what ran has used it up, and what waited has not [X1][X4]", async () => {
  let oomKills = 0;
  const { guest, far } = await played({ oomKills: () => oomKills });
  const ends = Promise.all(
    ["runs", "waits"].map(async (id) => (await outcomeOf(guest.run(execution({ id, language: "python" })))).end),
  );
  await far.delivered();
  oomKills = 1;
  far.end();
  assert.deepEqual(await ends, ["out_of_memory undefined", "lost undefined"]);
});
