import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { allOf, outcomeOf } from "../../../test/world/bare-supervisor.ts";
import { encodeFrame } from "./frames.ts";
import { beginSupervisor, execution, exited, hello, playSupervisor } from "./played-supervisor.testing.ts";

// What a guest is told, in which order, and what is left of it when it is over. The test plays the supervisor.

const idOf = ({ header }: { readonly header: unknown }) => `${Object(header).type} ${Object(header).id}`;

test("a guest is told in its greeting what its programs have, each limit as what it is [X1][X4]", async () => {
  const given = { javascript: ["/usr/bin/node"], env: { A: "b" }, limits: { outputBytesMax: 1, fileBytesMax: 2 } };
  const { connected, far, clock } = beginSupervisor({ ...given, processLimits: { memoryBytes: 3, processesMax: 4 } });
  const [greeting] = await far.frames();
  assert.deepEqual(greeting?.header, {
    ...{ type: "hello", nonce: hello.nonce, folders: [], workspace: "/workspace/c" },
    ...{ javascript: ["/usr/bin/node"], env: { A: "b" }, outputBytesMax: 1, fileBytesMax: 2 },
    ...{ memoryBytes: 3, processesMax: 4 },
  });
  far.say(hello);
  assert.deepEqual([(await connected).ok, clock.timers()], [true, 0]);
});

test("cells of one agent wait for each other, however many are over, and for no cell of another [X1]", async () => {
  const { guest, far } = await playSupervisor();
  const run = (id: string, agent: string) => outcomeOf(guest.run(execution({ id, agent, language: "python" })));
  const first = run("first", "a");
  void run("second", "a");
  void run("others", "b");
  assert.deepEqual((await far.frames()).map(idOf), ["exec first", "exec others"]);
  far.say({ ...exited, id: "first" });
  await first;
  assert.deepEqual((await far.frames()).map(idOf), ["exec second"]);
  void run("third", "a");
  assert.deepEqual(await far.frames(), []);
  far.say({ ...exited, id: "second" });
  assert.deepEqual((await far.frames()).map(idOf), ["exec third"]);
  far.say({ ...exited, id: "third" });
  await far.delivered();
  void run("late", "a");
  assert.deepEqual((await far.frames()).map(idOf), ["exec late"]);
});

test("questions to a guest are answered each with its own answer, in whatever order they come [X1]", async () => {
  const { guest, far } = await playSupervisor();
  const pings = [guest.ping(), guest.ping()];
  const usages = [guest.askUsage(), guest.askUsage()];
  const ends = [guest.endTurn(), guest.endTurn({ all: true })];
  guest.warm("a", ["math"]);
  void guest.reset("b");
  const told = (await far.frames()).map(({ header }) => header);
  const asked = [{ type: "ping", n: 1 }, { type: "ping", n: 2 }, { type: "usage" }, { type: "usage" }];
  assert.deepEqual(told, [
    ...[...asked, { type: "end_turn", all: false }, { type: "end_turn", all: true }],
    ...[
      { type: "warm", agent: "a", modules: ["math"] },
      { type: "reset", agent: "b" },
    ],
  ]);
  for (const n of [2, 1]) far.say({ type: "pong", n, dropped: 10 * n });
  for (const n of [1, 2]) far.say({ type: "usage", memoryBytes: n, processes: 10 * n, cpuMs: 100 * n });
  for (const killed of [5, 6]) far.say({ type: "turn_ended", killed });
  assert.deepEqual(await Promise.all([...pings, ...usages, ...ends]), [
    ...[10, 20, { memoryBytes: 1, processes: 10, cpuMs: 100 }, { memoryBytes: 2, processes: 20, cpuMs: 200 }],
    ...[5, 6],
  ]);
});

test("the first reason to close a guest is the one that is told, also where it goes by itself then [X1]", async () => {
  const { guest, far, clock } = await playSupervisor();
  const closed = [guest.close("idle"), guest.close("left")];
  far.end();
  await Promise.all(closed);
  assert.deepEqual([await guest.ended, guest.isOpen(), clock.timers()], [{ why: "idle" }, false, 0]);
  assert.deepEqual(await allOf(guest.run(execution({}))), [
    {
      ...{ kind: "exited", how: "lost", code: undefined, signal: undefined },
      metrics: { durationMs: 0, cpuMs: 0, memoryPeakBytes: 0, readBytes: 0, writtenBytes: 0 },
    },
  ]);
  await guest.close("again");
});

test("two executions of a guest with one id are a mistake of ours; an id that is over may come again [X1]", async () => {
  const { guest, far } = await playSupervisor();
  const first = outcomeOf(guest.run(execution({})));
  assert.throws(() => guest.run(execution({})), /an id of its own/);
  far.say({ ...exited, id: "e" });
  await first;
  const second = outcomeOf(guest.run(execution({})));
  far.say({ ...exited, id: "e", code: 3 });
  assert.equal((await second).end, "done 3");
});

test("input and code go in pieces of a frame each, and no input is told as none [X1]", async () => {
  const { guest, far } = await playSupervisor();
  const sizes = async (wanted: Parameters<typeof execution>[0]) => {
    void guest.run(execution(wanted));
    return (await far.frames()).map(({ header, payload }) => [Object(header).name ?? "exec", payload.length]);
  };
  const stdin = Buffer.alloc(65_537, "x");
  assert.deepEqual(
    [await sizes({ id: "1", stdin }), await sizes({ id: "2", stdin: Buffer.alloc(0), code: "x".repeat(65_536) })],
    [
      [
        ["stdin", 65_536],
        ["stdin", 1],
        ["exec", 4],
      ],
      [
        ["stdin", 0],
        ["exec", 65_536],
      ],
    ],
  );
  assert.deepEqual(await sizes({ id: "3", code: "x".repeat(65_537) }), [
    ["code", 1],
    ["exec", 65_536],
  ]);
});

test("an execution that is over leaves no timer and nobody who listens to its signal [X1]", async () => {
  const { guest, far, clock } = await playSupervisor();
  const { signal } = new AbortController();
  const outcome = outcomeOf(guest.run(execution({ signal })));
  await far.delivered();
  assert.deepEqual([clock.timers(), getEventListeners(signal, "abort").length], [1, 1]);
  far.say({ ...exited, id: "e" });
  await outcome;
  assert.deepEqual([clock.timers(), getEventListeners(signal, "abort").length], [0, 0]);
});

test("what was stopped for one reason is not stopped for another, and has its time to end only once [X1]", async () => {
  const { guest, far, clock } = await playSupervisor();
  const stop = new AbortController();
  const outcome = outcomeOf(guest.run(execution({ timeoutMs: 1000, signal: stop.signal })));
  await far.types();
  clock.move(1000);
  stop.abort();
  assert.deepEqual([await far.types(), clock.timers()], [["interrupt", "interrupt"], 1]);
  clock.move(2000);
  clock.move(2999);
  assert.deepEqual([await far.types(), guest.isOpen(), clock.timers()], [["kill"], true, 1]);
  far.say({ ...exited, id: "e", code: null, signal: "SIGKILL" });
  assert.deepEqual([(await outcome).end, clock.timers()], ["timeout SIGKILL", 0]);
});

test("a program whose output nobody reads any more is killed [X1]", async () => {
  const { guest, far } = await playSupervisor();
  const events = guest.run(execution({}));
  far.say({ type: "started", id: "e" });
  for await (const { kind } of events) if (kind === "started") break;
  assert.deepEqual(await far.types(), ["exec", "kill"]);
});

test("the time of a cell counts from when it begins; one that never began took none [X1]", async () => {
  const { guest, far, clock } = await playSupervisor();
  const lasted = async (id: string, wanted: Parameters<typeof execution>[0] = {}) => {
    const end = (await allOf(guest.run(execution({ id, language: "python", ...wanted })))).at(-1);
    return end?.kind === "exited" && [end.how, end.metrics.durationMs];
  };
  const cells = ["first", "second", "never"].map((id) => lasted(id));
  clock.move(100);
  guest.kill("never");
  far.say({ ...exited, id: "first" });
  await far.delivered();
  clock.move(50);
  far.say({ ...exited, id: "second" });
  assert.deepEqual(await Promise.all(cells), [
    ["done", 100],
    ["done", 50],
    ["cancelled", 0],
  ]);
  await far.frames();
  const early = await lasted("early", { signal: AbortSignal.abort() });
  assert.deepEqual([early, await far.frames()], [["cancelled", 0], []]);
});

test("a frame that came in two pieces is over with the second, and one that is wrong closes the socket [X1][Q2]", async () => {
  const { guest, far, clock, socket } = await playSupervisor();
  const frame = encodeFrame({ type: "started", id: "x" });
  for (const piece of [frame.subarray(0, 5), frame.subarray(5)]) {
    far.raw(piece);
    await far.delivered();
  }
  assert.equal(clock.timers(), 0);
  clock.move(10_000);
  assert.deepEqual([guest.isOpen(), guest.dropped(), socket.destroyed], [true, 1, false]);
  far.say({ type: "sudo" });
  assert.deepEqual([await guest.ended, socket.destroyed], [{ why: "protocol_error" }, true]);
});

test("a guest that goes before it greets leaves no timer [X1]", async () => {
  const { connected, far, clock } = beginSupervisor({});
  far.end();
  assert.deepEqual([(await connected).ok, clock.timers()], [false, 0]);
});
