import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { manualClock, notingClock } from "../../../test/world/manual-clock.ts";
import type { Clock } from "../../base/clock.ts";
import { type Home, homesHere } from "../../homes/homes.ts";
import type { Passed } from "../door.ts";
import { openRate } from "../rate.ts";
import { dyingPeer, handingOnTo } from "./handing-on.testing.ts";

/** Time goes on by itself for whoever waits. */
function passingClock() {
  const { clock, waits } = notingClock();
  const wait: Clock["wait"] = (ms, signal) => {
    clock.move(ms);
    return clock.wait(ms, signal);
  };
  return { clock: { ...clock, wait }, waits };
}

test("a server that opens in a moment is waited for twenty seconds, longer each time, and one that is gone for five [N1][L6]", async (t) => {
  const peer = await dyingPeer(t);
  const outcome = async (says: "not now" | "dies") => {
    const { clock, waits } = passingClock();
    const doubted: string[] = [];
    const there = { isHere: false, server: "there", address: peer.address } as const;
    const homes = {
      ...homesHere,
      isShared: true,
      homeOf: async () => there,
      doubt: (one: string) => doubted.push(one),
    };
    const ask = handingOnTo(t, peer.address, { clock, homes });
    peer.says(...Array.from({ length: 50 }, () => says));
    const { status } = await ask({ method: "GET" });
    assert.deepEqual([status, doubted], [503, peer.seen.splice(0).map(() => "there")], says);
    return waits;
  };
  assert.deepEqual(await outcome("not now"), [200, 400, 800, 1_600, ...Array.from({ length: 9 }, () => 2_000)]);
  assert.deepEqual(
    await outcome("dies"),
    Array.from({ length: 26 }, () => 200),
  );
});

test("a request at a server that is gone without a word is taken from it as soon as that is known [N1][L6]", async (t) => {
  const peer = await dyingPeer(t);
  const { clock } = passingClock();
  const listeners: ((server: string) => void)[] = [];
  const places: Home[] = [{ isHere: false, server: "there", address: peer.address }, { isHere: true }];
  const homes = {
    ...homesHere,
    isShared: true,
    homeOf: async () => places.shift() ?? { isHere: true as const },
    onGone(listener: (server: string) => void) {
      listeners.push(listener);
      return () => {};
    },
  };
  const ask = handingOnTo(t, peer.address, { clock, homes });
  peer.says("hangs");
  const answered = ask({ method: "GET" });
  while (peer.hanging.length === 0) await setImmediate();
  for (const listener of listeners) listener("there");
  clock.move(500);
  assert.equal(await Promise.race([textOf(answered), soon()]), "served here");
});

const textOf = async (answer: Promise<Response> | Response) => (await answer).text();

/** Longer than anything that happens in this process takes. */
async function soon(): Promise<string> {
  for (let turns = 0; turns < 1_000; turns += 1) await setImmediate();
  return "still waits";
}

test("what has come home meanwhile is served here, and what another server handed on goes no further [N1]", async (t) => {
  const peer = await dyingPeer(t);
  const homes: Home[] = [{ isHere: false, server: "there", address: peer.address }, { isHere: true }];
  const homeOf = async () => homes.shift() ?? { isHere: false, server: "there", address: peer.address };
  const { clock, waits } = notingClock();
  const ask = handingOnTo(t, peer.address, { clock, homes: { ...homesHere, isShared: true, homeOf } });
  peer.says("elsewhere");
  assert.equal(await (await ask({ method: "POST", body: "x" })).text(), "served here");
  assert.deepEqual([peer.seen.splice(0), waits], [["POST"], []], "nobody is waited for who says where it is not");
  const arrival = { address: undefined, isVeiled: false, isFromHere: true, host: "x", scheme: undefined, prefix: "" };
  const passed: Passed = { key: "u:local", caller: { signedIn: undefined, scopes: [] }, arrival };
  const astray = await ask({ method: "GET" }, { passed });
  assert.deepEqual([astray.status, astray.headers.get("agentyard-peer"), peer.seen], [421, "elsewhere", []]);
});

test("a call is counted where it is served: what was counted for it at this door is given back [N1][C6]", async (t) => {
  const peer = await dyingPeer(t);
  const clock = manualClock();
  const rate = openRate(clock);
  const counted = { who: "user ann", max: 2 };
  const ask = handingOnTo(t, peer.address, { clock, rate, counted });
  const left = () => rate.count(counted.who, counted.max, counted).headers["ratelimit-remaining"];
  assert.equal(left(), "1");
  assert.equal((await ask({ method: "GET" })).status, 200);
  assert.equal(left(), "1");
  peer.says("refused");
  assert.equal((await ask({ method: "GET" })).status, 503);
  assert.equal(left(), "0", "nobody has served it");
});

test("whoever changes something and loses their key by it hears for two seconds more what came of it; whoever reads does not [N1][C6]", async (t) => {
  const peer = await dyingPeer(t);
  const begin = async (method: string, isTakenBefore = false) => {
    const [clock, key, ends]: [ReturnType<typeof manualClock>, AbortController, (() => void)[]] = [
      manualClock(),
      new AbortController(),
      [],
    ];
    if (isTakenBefore) key.abort();
    const ask = handingOnTo(t, peer.address, { clock, taken: key.signal });
    peer.says("hangs");
    const answer = ask({ method }, { onEnd: (listener) => void ends.push(listener) });
    while (peer.hanging.length === 0 && !(isTakenBefore && method === "GET")) await setImmediate();
    const end = () => {
      for (const one of ends) one();
    };
    return { clock, key, end, answer, outgoing: peer.hanging.pop() };
  };
  for (const isTakenBefore of [false, true]) {
    const told = await begin("DELETE", isTakenBefore);
    told.key.abort();
    told.clock.move(1_999);
    told.outgoing?.end("it is done");
    assert.equal(await (await told.answer).text(), "it is done");
    const late = await begin("DELETE", isTakenBefore);
    late.key.abort();
    late.clock.move(2_000);
    assert.equal((await late.answer).status, 503);
  }
  const read = await begin("GET");
  read.key.abort();
  assert.equal((await read.answer).status, 503);
  const whole = await begin("POST");
  whole.outgoing?.end("done");
  assert.equal(await (await whole.answer).text(), "done");
  assert.equal(getEventListeners(whole.key.signal, "abort").length, 1);
  whole.end();
  assert.equal(getEventListeners(whole.key.signal, "abort").length, 0, "the key lives longer than the request");
});
