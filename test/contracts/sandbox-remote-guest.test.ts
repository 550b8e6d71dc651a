import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import type { Execution } from "../../src/sandbox/provider.ts";
import { allOf } from "../world/bare-supervisor.ts";
import { until } from "../world/events.ts";
import { manualClock } from "../world/manual-clock.ts";
import { askHostileHost, onHostileHost } from "./sandbox-remote-raw.ts";
import { isOver } from "./sandbox-service-played.ts";

// A guest on another machine, as its server has it: before it is there, at its limits, and after its end.

const program: Execution = { id: "e", language: "bash", code: "", agent: "a", timeoutMs: 1000 };
const metrics = { durationMs: 0, cpuMs: 0, memoryPeakBytes: 0, readBytes: 0, writtenBytes: 0 };
const exited = { type: "exited", id: "e", how: "done", code: 0, metrics, isOpen: true };
const lost = { kind: "exited", how: "lost", code: undefined, signal: undefined, metrics };

test("a guest whose host said that it is gone is waited for by nobody, runs nothing, and answers with nothing [X1]", async () => {
  const clock = manualClock();
  const { guest, say, heard } = await onHostileHost({ clock, whenGone: () => new Promise(() => {}) });
  const closed = guest.close("idle");
  await until("it is told", () => heard.length === 2);
  say({ type: "ended", why: "as it was told" });
  await closed;
  assert.deepEqual([await guest.ended, guest.isOpen(), clock.timers()], [{ why: "as it was told" }, false, 0]);
  assert.deepEqual(await allOf(guest.run(program)), [lost]);
  assert.deepEqual([await guest.usage(), await guest.endTurn()], [{ memoryBytes: 0, processes: 0, cpuMs: 0 }, 0]);
  await guest.reset("a");
});

test("a guest that is closed twice ended for the first reason, where its host says none [X1]", async () => {
  const { guest, near } = await onHostileHost();
  const closed = [guest.close("idle"), guest.close("closed")];
  near.destroy();
  await Promise.all(closed);
  assert.deepEqual(await guest.ended, { why: "idle" });
});

test("an execution that was cancelled before it began is not sent, and a host may tell of one that is over [X1]", async () => {
  const { guest, say, heard, near } = await onHostileHost();
  const cancelled = { ...lost, how: "cancelled" };
  assert.deepEqual(await allOf(guest.run({ ...program, id: "never", signal: AbortSignal.abort() })), [cancelled]);
  const events = allOf(guest.run(program));
  say({ ...exited, code: 255 });
  assert.partialDeepStrictEqual(await events, [{ kind: "exited", how: "done", code: 255 }]);
  say({ type: "output", id: "e", stream: "stdout" }, Buffer.from("late"));
  const used = guest.usage();
  await until("it is asked", () => heard.length === 3);
  say({ type: "used", question: 1, memoryBytes: 1, processes: 2, cpuMs: 3 });
  assert.deepEqual([await used, near.destroyed], [{ memoryBytes: 1, processes: 2, cpuMs: 3 }, false]);
  assert.partialDeepStrictEqual(heard.slice(1), [{ type: "run", id: "e" }, { type: "usage" }]);
});

test("a program on a host says as much as its limit and the remarks of its supervisor allow, and not a byte more [X4]", async () => {
  const outputBytesMax = 100_000 + 65_536;
  for (const [bytes, how] of [
    [outputBytesMax, "done"],
    [outputBytesMax + 1, "lost"],
  ] as const) {
    const { guest, say } = await onHostileHost();
    const events = allOf(guest.run(program));
    for (let start = 0; start < bytes; start += 65_536)
      say({ type: "output", id: "e", stream: "stdout" }, Buffer.alloc(Math.min(65_536, bytes - start), "x"));
    say({ ...exited, how: "killed", code: undefined, signal: "SIGRTMIN+12" });
    const end = (await events).at(-1);
    assert.deepEqual(
      end?.kind === "exited" && [end.how, end.signal],
      how === "lost" ? ["lost", undefined] : ["killed", "SIGRTMIN+12"],
    );
  }
});

test("a host that tells of programs before there is a guest is left, and one that only says that it is there is not [X3][Q1]", async () => {
  const early = askHostileHost();
  early.say({ type: "pong" });
  early.say({ type: "started", id: "e" });
  assert.deepEqual(await early.opening, { ok: false, failure: { why: "broken_off", said: "" } });
  assert.equal(early.near.destroyed, true);
});

test("a program on a host that is over holds its caller's signal no more, and nothing is said of it any more [X1][X4]", async () => {
  const { guest, say, heard } = await onHostileHost();
  const stop = new AbortController();
  const events = allOf(guest.run({ ...program, signal: stop.signal }));
  assert.equal(getEventListeners(stop.signal, "abort").length, 1);
  say(exited);
  await events;
  assert.deepEqual(getEventListeners(stop.signal, "abort"), []);
  stop.abort();
  guest.interrupt("e");
  guest.kill("e");
  const used = guest.usage();
  await until("it is asked", () => JSON.stringify(heard.at(-1)) === '{"type":"usage","question":1}');
  assert.partialDeepStrictEqual(heard.slice(1), [{ type: "run" }, { type: "usage" }]);
  assert.equal(heard.length, 3);
  say({ type: "used", question: 1, memoryBytes: 1, processes: 2, cpuMs: 3 });
  await used;
});

test("a host that answers a question twice, or one that nobody asked, is none of ours [X3][Q1]", async () => {
  for (const question of [1, 2]) {
    // No time passes: it is not left for its silence.
    const { guest, say, near } = await onHostileHost({ clock: manualClock() });
    const reset = guest.reset("a");
    assert.equal(await isOver(reset), false);
    say({ type: "done", question: 1, count: 0 });
    await reset;
    assert.equal(near.destroyed, false);
    say({ type: "done", question, count: 0 });
    await until("it is left", () => near.destroyed);
    assert.deepEqual(await guest.ended, { why: "ended" });
  }
});
