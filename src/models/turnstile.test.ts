import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTick } from "node:timers/promises";
import type { Clock } from "../base/clock.ts";
import type { ModelAnswer, ModelError, PreparedCall } from "./provider.ts";
import { openTurnstile } from "./turnstile.ts";

const done: ModelAnswer = {
  text: "done",
  reasoning: "",
  toolCalls: [],
  finish: "stop",
  usage: { input: 1, output: 1 },
};
const slowDown: ModelError = { kind: "rate_limit", retryable: true, retryAfterMs: 5_000, message: "slow down" };

test("no more calls run at once than allowed, and a finished one lets the next in [M3]", async () => {
  const { send, sent, finish } = gate({ callsMax: 2 });
  const answers = ["a1", "a2", "a3", "a4"].map((name) => send(name));
  await nextTick();
  assert.deepEqual(sent, ["a1", "a2"]);
  finish("a2", done);
  await nextTick();
  assert.deepEqual(sent, ["a1", "a2", "a3"]);
  for (const name of ["a1", "a3"]) finish(name, done);
  await nextTick();
  finish("a4", done);
  assert.deepEqual(await Promise.all(answers), [done, done, done, done]);
});

test("owners take turns, however much one of them asks for [M3]", async () => {
  const { send, sent, finish } = gate({ callsMax: 1 });
  for (const name of ["a1", "a2", "a3", "a4", "b1", "b2", "c1"]) void send(name);
  for (let i = 0; i < 7; i += 1) {
    await nextTick();
    finish(sent.at(-1) ?? "", done);
  }
  assert.deepEqual(sent, ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
});

test("after a Retry-After nobody calls before it is over [M3]", async () => {
  const { send, sent, finish, pass, timers } = gate({ callsMax: 2 });
  void send("a1");
  void send("a2");
  await nextTick();
  finish("a1", failure(slowDown));
  void send("b1");
  await nextTick();
  pass(4_999);
  await nextTick();
  assert.deepEqual(sent, ["a1", "a2"]);
  pass(1);
  await nextTick();
  assert.deepEqual([sent, timers()], [["a1", "a2", "b1"], 0]);
});

test("a later and longer Retry-After prolongs the pause, a shorter one does not cut it [M3]", async () => {
  const { send, sent, finish, pass } = gate({ callsMax: 3 });
  for (const name of ["a1", "a2", "a3"]) void send(name);
  await nextTick();
  finish("a1", failure(slowDown));
  void send("b1");
  await nextTick();
  finish("a2", failure({ ...slowDown, retryAfterMs: 9_000 }));
  finish("a3", failure({ ...slowDown, retryAfterMs: 10 }));
  await nextTick();
  pass(8_999);
  await nextTick();
  assert.equal(sent.includes("b1"), false);
  pass(1);
  await nextTick();
  assert.equal(sent.includes("b1"), true);
});

test("other failures and those without a Retry-After hold nobody up [M3]", async () => {
  const { send, sent, finish } = gate({ callsMax: 1 });
  for (const name of ["a1", "a2", "a3"]) void send(name);
  await nextTick();
  finish("a1", failure({ kind: "bad_request", retryable: false, retryAfterMs: 5_000, message: "no" }));
  await nextTick();
  finish("a2", failure({ kind: "overloaded", retryable: true, message: "busy" }));
  await nextTick();
  assert.deepEqual(sent, ["a1", "a2", "a3"]);
});

test("a pause longer than the limit is not waited for: everybody gets the provider's own error [M3]", async () => {
  const { send, sent, finish, pass } = gate({ callsMax: 1 });
  const first = send("a1");
  const waiting = send("b1");
  await nextTick();
  const long = { ...slowDown, retryAfterMs: 3_600_000 };
  finish("a1", failure(long));
  assert.deepEqual((await first).error, long);
  assert.deepEqual((await waiting).error, long);
  pass(1_000);
  assert.deepEqual((await send("c1")).error, { ...long, retryAfterMs: 3_599_000 });
  assert.deepEqual(sent, ["a1"]);
});

test("whoever is stopped while waiting leaves at once and takes no turn [M3]", async () => {
  const { send, sent, finish, timers } = gate({ callsMax: 1 });
  void send("a1");
  const stop = new AbortController();
  const stopped = send("b1", stop.signal);
  void send("c1");
  await nextTick();
  stop.abort();
  assert.deepEqual((await stopped).error, { kind: "network", retryable: false, because: "cancelled", message: "" });
  assert.equal((await send("d1", AbortSignal.abort())).finish, "error");
  finish("a1", failure(slowDown));
  await nextTick();
  assert.deepEqual([sent, timers()], [["a1"], 1]);
});

test("the pause keeps no timer when nobody waits for its end [M3]", async () => {
  const { send, finish, timers } = gate({ callsMax: 1 });
  void send("a1");
  const stop = new AbortController();
  const waiting = send("b1", stop.signal);
  await nextTick();
  finish("a1", failure(slowDown));
  await nextTick();
  assert.equal(timers(), 1);
  stop.abort();
  await waiting;
  assert.equal(timers(), 0);
});

test("a call that throws gives its place back [M3]", async () => {
  const turnstile = openTurnstile({ clock: handClock().clock, callsMax: 1, holdMsMax: 60_000 });
  const bytes = { hash: "", length: 0, reused: 0 };
  const broken: PreparedCall = { bytes, send: () => Promise.reject(new Error("a bug")) };
  const whole: PreparedCall = { bytes, send: () => Promise.resolve(done) };
  const { signal } = new AbortController();
  await assert.rejects(turnstile.guard(broken, "a").send({}, signal), /a bug/);
  assert.deepEqual(await turnstile.guard(whole, "a").send({}, signal), done);
});

function failure(error: ModelError): ModelAnswer {
  return { ...done, text: "", finish: "error", error };
}

/** A turnstile before calls that end when the test says so; the first letter of a call's name is its owner. */
function gate({ callsMax }: { callsMax: number }) {
  const { clock, pass, timers } = handClock();
  const turnstile = openTurnstile({ clock, callsMax, holdMsMax: 60_000 });
  const sent: string[] = [];
  const open = new Map<string, (answer: ModelAnswer) => void>();
  const send = (name: string, signal = new AbortController().signal) => {
    const call: PreparedCall = {
      bytes: { hash: name, length: 0, reused: 0 },
      send: () => {
        sent.push(name);
        return new Promise((resolve) => open.set(name, resolve));
      },
    };
    return turnstile.guard(call, name.charAt(0)).send({}, signal);
  };
  return { send, sent, pass, timers, finish: (name: string, answer: ModelAnswer) => open.get(name)?.(answer) };
}

/** Time that moves by hand. */
function handClock() {
  let nowMs = 1_000;
  const waits = new Set<{ readonly atMs: number; readonly end: (how: "elapsed" | "aborted") => void }>();
  const clock: Clock = {
    now: () => nowMs,
    monotonic: () => nowMs,
    wait: (ms, signal) =>
      new Promise((resolve) => {
        const wait = {
          atMs: nowMs + ms,
          end: (how: "elapsed" | "aborted") => {
            waits.delete(wait);
            resolve(how);
          },
        };
        waits.add(wait);
        signal?.addEventListener("abort", () => wait.end("aborted"), { once: true });
      }),
    after: () => () => undefined,
  };
  const pass = (ms: number) => {
    nowMs += ms;
    for (const wait of waits) if (wait.atMs <= nowMs) wait.end("elapsed");
  };
  return { clock, pass, timers: () => waits.size };
}
