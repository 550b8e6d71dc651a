import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { writtenTurn } from "../../../test/world/written-turn.ts";
import type { NewEvent } from "../../protocol/events.ts";
import { followMessage } from "./follow-message.ts";

const said = (id: string): NewEvent => ({ type: "message.user", id, text: id, mode: "queue" });
const started: NewEvent = { type: "turn.started", turn: 1, message: "a", epoch: 1 };
const step: NewEvent = {
  ...{ type: "step.started", turn: 1, step: 1, attempt: 1, slot: "base", model: "m", reason: "r" },
  ...{ hash: "", bytes: 0, reused: 0 },
};
const called: NewEvent = {
  ...{ type: "message.assistant", turn: 1, step: 1, text: "", finish: "tool_calls", durationMs: 1 },
  ...{ usage: { input: 1, output: 1 }, calls: [{ id: "c1", name: "look", arguments: "{}" }] },
};
const asked: NewEvent = { type: "decision.asked", turn: 1, id: "d", call: "c1", kind: "approval", tool: "look" };
const decided: NewEvent[] = [
  { type: "decision.made", id: "d", verdict: "approve", by: "me", argumentsHash: "", previous: "" },
  { type: "call.finished", call: "c1", outcome: "ok", text: "done" },
];

/** What somebody who follows a message is told, where the decision is made while the state is being looked at. */
async function toldWhileDecided(message: { readonly id: string; readonly seq: number }, ...events: NewEvent[]) {
  await using yard = await writtenTurn();
  await yard.append(...events);
  const gone = new AbortController();
  let isDecided = false;
  const state: typeof yard.view.engine.state = async (...wanted) => {
    const before = await yard.view.engine.state(...wanted);
    if (!isDecided) await yard.append(...decided);
    isDecided = true;
    return before;
  };
  const view = { ...yard.view, engine: { ...yard.view.engine, state } };
  const told: (string | number)[] = [];
  const reading = (async () => {
    for await (const frames of followMessage({ ...view, message, signal: gone.signal }))
      told.push(...frames.map((frame) => (frame.frame === "event" ? frame.event.seq : frame.frame)));
  })();
  for (let turns = 0; turns < 10; turns += 1) await settle();
  gone.abort();
  await reading;
  assert.ok(isDecided);
  return told;
}

test("a question that is answered in the moment it is looked at ends no stream: the turn goes on in it [C3][H2]", async () => {
  const told = await toldWhileDecided({ id: "a", seq: 1 }, said("a"), started, step, called, asked);
  assert.deepEqual(told, [1, 2, 3, 4, 5, 6, 7]);
});

test("who waits behind a question that is answered in that moment goes on waiting for their own turn [C3][H2][L7]", async () => {
  const told = await toldWhileDecided({ id: "b", seq: 6 }, said("a"), started, step, called, asked, said("b"));
  assert.deepEqual(told, [6]);
});
