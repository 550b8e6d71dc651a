import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { writtenTurn } from "../../../test/world/written-turn.ts";
import { openLive } from "../../loop/loop.ts";
import type { NewEvent } from "../../protocol/events.ts";
import { followMessage, type TurnFrame } from "./follow-message.ts";
import { openLivePart } from "./live-part.ts";

const usage = { input: 1, output: 1 };
const said = (id: string): NewEvent => ({ type: "message.user", id, text: id, mode: "queue" });
const started = (turn: number, message: string): NewEvent => ({ type: "turn.started", turn, message, epoch: 1 });
const step = (turn: number, number: number, attempt = 1): NewEvent => ({
  ...{ type: "step.started", turn, step: number, attempt, slot: "base", model: "m", reason: "r" },
  ...{ hash: "", bytes: 0, reused: 0 },
});
const answered = (turn: number, number: number, text: string, ...ids: string[]): NewEvent => ({
  ...{ type: "message.assistant", turn, step: number, text, finish: "stop", usage, durationMs: 1 },
  ...(ids.length === 0 ? {} : { calls: ids.map((id) => ({ id, name: "look", arguments: "{}" })) }),
});
const finished = (turn: number): NewEvent => ({ type: "turn.finished", turn, outcome: "done" });
const asked = (turn: number, id: string, call: string, kind: "approval" | "function" = "approval"): NewEvent => ({
  ...{ type: "decision.asked", turn, id, call, kind, tool: "look" },
});
const made = (id: string): NewEvent => ({
  ...{ type: "decision.made", id, verdict: "approve", by: "me", argumentsHash: "", previous: "" },
});
const ran = (call: string): NewEvent => ({ type: "call.finished", call, outcome: "ok", text: "done" });

/** Events by their place, text as it is, the rest by its name. */
const short = (frame: TurnFrame): string | number => {
  if (frame.frame === "event") return frame.event.seq;
  if (frame.frame === "delta") return `${frame.offset}:${frame.text}`;
  return frame.frame === "rest" ? frame.state : frame.frame;
};

/** Reads in the background; `news` has what came since the last time. */
function reading(yard: Awaited<ReturnType<typeof writtenTurn>>, message: { id: string; seq: number }) {
  const gone = new AbortController();
  const seen: (string | number)[] = [];
  const frames = followMessage({ ...yard.view, message, signal: gone.signal });
  const done = (async () => {
    for await (const batch of frames) seen.push(...batch.map(short));
  })();
  return {
    done,
    async news() {
      for (let turns = 0; turns < 5; turns += 1) await settle();
      return seen.splice(0);
    },
    async leave() {
      gone.abort();
      await done;
    },
  };
}

test("a message that waits behind another is followed from the start and gets only its own turn [L7][C3]", async () => {
  await using yard = await writtenTurn();
  await yard.append(said("first"), started(1, "first"), step(1, 1));
  yard.begin({ turn: 1, step: 1, attempt: 1 });
  await yard.append(said("second"));
  const reader = reading(yard, { id: "second", seq: 4 });
  assert.deepEqual(await reader.news(), [4]);
  yard.say("of the first");
  await yard.append(answered(1, 1, "of the first", "c1"), ran("c1"), { type: "conversation.renamed", title: "t" });
  assert.deepEqual(await reader.news(), []);
  await yard.append(finished(1), started(2, "second"), step(2, 1));
  assert.deepEqual(await reader.news(), [9, 10]);
  yard.begin({ turn: 2, step: 1, attempt: 1 });
  yard.say("of the ");
  yard.say("second");
  assert.deepEqual(await reader.news(), ["0:of the second"]);
  await yard.append(answered(2, 1, "of the second"), finished(2), said("third"));
  await reader.done;
  assert.deepEqual(await reader.news(), [11, 12, "done"]);
  assert.equal(yard.left(), 0);
});

test("a stream ends with the question only when nothing else can go on [C3][H2]", async () => {
  await using yard = await writtenTurn();
  await yard.append(said("a"), started(1, "a"), step(1, 1), answered(1, 1, "", "c1", "c2"), asked(1, "d", "c1"));
  const reader = reading(yard, { id: "a", seq: 1 });
  assert.deepEqual(await reader.news(), [1, 2, 3, 4, 5], "the other call still runs");
  assert.equal(yard.looks(), 1);
  await yard.append(ran("c2"));
  await reader.done;
  assert.deepEqual(await reader.news(), [6, "waiting"]);
  await yard.append(made("d"), ran("c1"));
  const again = reading(yard, { id: "a", seq: 1 });
  assert.deepEqual(await again.news(), [1, 2, 3, 4, 5, 6, 7, 8]);
  await again.leave();
  assert.equal(yard.left(), 0);
});

test("who waits behind a turn that comes to ask a person is told what, and what a caller is asked is waited for [C3][H2][L7]", async () => {
  await using yard = await writtenTurn();
  await yard.append(said("a"), started(1, "a"), step(1, 1), said("b"));
  const reader = reading(yard, { id: "b", seq: 4 });
  assert.deepEqual(await reader.news(), [4]);
  await yard.append(answered(1, 1, "", "c1"), { type: "conversation.renamed", title: "t" });
  await reader.news();
  assert.equal(yard.looks(), 1, "nothing was asked since");
  await yard.append(asked(1, "f", "c1", "function"));
  assert.deepEqual(await reader.news(), []);
  await yard.append(made("f"), ran("c1"), step(1, 2), answered(1, 2, "", "c2", "c3"));
  await yard.append(asked(1, "d", "c2"));
  assert.deepEqual(await reader.news(), [], "the other call still runs");
  await yard.append(ran("c3"));
  await reader.done;
  assert.deepEqual(await reader.news(), ["waiting"]);
  const late = followMessage({ ...yard.view, message: { id: "b", seq: 4 }, signal: new AbortController().signal });
  let last: TurnFrame | undefined;
  for await (const frames of late) last = frames.at(-1);
  assert.deepEqual(last, { frame: "rest", state: "waiting", behind: (await yard.events())[11] });
  assert.equal(yard.left(), 0);
});

test("who follows is told when the message is withdrawn, left behind or deleted with its conversation [L7][C3]", async () => {
  const endings: [ending: (yard: Awaited<ReturnType<typeof writtenTurn>>) => Promise<void>, ...string[]][] = [
    [(yard) => yard.append({ type: "message.withdrawn", id: "b" }), "withdrawn"],
    [(yard) => yard.append({ type: "rewound", to: 0, cause: "reset" }), "withdrawn"],
    [(yard) => yard.remove(), "deleted"],
  ];
  for (const [ending, state] of endings) {
    await using yard = await writtenTurn();
    await yard.append(said("a"), started(1, "a"), said("b"));
    const reader = reading(yard, { id: "b", seq: 3 });
    assert.deepEqual(await reader.news(), [3]);
    await ending(yard);
    await reader.done;
    assert.equal((await reader.news()).at(-1), state);
  }
  await using yard = await writtenTurn();
  await yard.append(said("a"), started(1, "a"), finished(1), said("b"));
  const reader = reading(yard, { id: "b", seq: 4 });
  assert.deepEqual(await reader.news(), [4]);
  await yard.append({ type: "rewound", to: 0, cause: "undo" }, said("b"));
  assert.deepEqual(await reader.news(), [6], "it waited, and was said again");
  await yard.append({ type: "checkpoint.saved", name: "here" }, { type: "rewound", to: 6, cause: "checkpoint" });
  assert.deepEqual(await reader.news(), [], "it still waits: the way back ends with it");
  await reader.leave();
});

test("a reader who takes nothing holds little, and gets the whole text when it comes back [C3][Q2]", async () => {
  await using yard = await writtenTurn();
  await yard.append(said("a"), started(1, "a"), step(1, 1));
  yard.begin({ turn: 1, step: 1, attempt: 1 });
  yard.say("0");
  const signal = new AbortController();
  const frames = followMessage({ ...yard.view, message: { id: "a", seq: 1 }, signal: signal.signal });
  await frames.next();
  assert.deepEqual((await frames.next()).value?.map(short), ["0:0"]);
  for (let n = 0; n < 3_000; n += 1) yard.say("x".repeat(100));
  assert.equal(yard.listeners(), 1, "it no longer hears what it cannot hold: only the log");
  const [piece] = (await frames.next()).value ?? [];
  assert.deepEqual(piece, {
    ...{ frame: "delta", turn: 1, step: 1, attempt: 1, kind: "text" },
    offset: 1,
    text: "x".repeat(300_000),
  });
  yard.say("!");
  assert.deepEqual((await frames.next()).value?.map(short), ["300001:!"]);
  await frames.return();
  assert.equal(yard.left(), 0);
});

test("a turn that goes on at another server, which does not tell of it here, is read at the next sign of life [C3][N1]", async () => {
  await using yard = await writtenTurn();
  await yard.append(said("m"), started(1, "m"), step(1, 1));
  const { log } = yard.view;
  const deaf = { ...yard, view: { ...yard.view, log: { ...log, onAppend: () => () => {} } } };
  const reader = reading(deaf, { id: "m", seq: 1 });
  assert.deepEqual(await reader.news(), [1, 2, 3]);
  await yard.append(answered(1, 1, "done there"), finished(1));
  assert.deepEqual(await reader.news(), []);
  yard.clock.move(15_000);
  await reader.done;
  assert.deepEqual(await reader.news(), ["ping", 4, 5, "done"]);
});

const attempt = { turn: 1, step: 1, attempt: 1 };

test("what a helper writes at the same time, and what a program says, is no part of the answer [A2][C3]", () => {
  const live = openLive();
  const helper = { number: 1, agent: "helper-1" };
  live.begin({ number: 1 }, attempt);
  const part = openLivePart({ live: live.listen }, 1, () => undefined);
  part.take(attempt);
  live.add({ number: 1 }, "text", "of the ");
  live.begin(helper, attempt);
  live.add(helper, "text", "of the helper");
  live.say({ number: 1 }, "c1", "of a program");
  live.add({ number: 1 }, "text", "main agent");
  assert.deepEqual(
    part.take(attempt).map(({ offset, text }) => `${offset}:${text}`),
    ["0:of the main agent"],
  );
  part.stop();
});
