import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { firstOf, isRoots, lastOf, textOf } from "../world/company.ts";
import { all, until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { must, startYard } from "../world/yard.ts";

test("when a turn is stopped nothing below goes on: no model is asked, no tool works, nothing is stored and nobody is asked [L6][A1][H4]", async () => {
  const held = Promise.withResolvers<void>();
  let ticks = 0;
  const tick = defineTool({
    name: "tick",
    description: "Works until it is stopped. For tests.",
    input: z.object({}),
    async run(_, { clock, signal }) {
      for (; !signal.aborted; ticks += 1) await clock.wait(1, signal);
      return ok({ text: "stopped" });
    },
  });
  await using model = await modelServer((request) => {
    const [who = ""] = firstOf(request).split(" ");
    const { text } = lastOf(request);
    if (text === "again") return says("fresh");
    const isMade = textOf(request).includes('"agent"');
    if (who === "go") return isMade ? says("waiting") : calls(spawn("boss"), spawn("asker"), spawn("waiter"));
    // One below another, and each in the middle of something else.
    if (who === "boss") return calls(spawn("deep"), ["delegate_task", { task: "worker it" }]);
    if (who === "worker") return calls(["tick", {}]);
    if (who === "asker") return calls(["ask_human", { question: "And?" }]);
    if (who === "waiter" && !text.includes("Delivered"))
      return calls(["send_message", { to: "parent", text: "well?", wait_for_answer: true }]);
    if (who === "waiter") return says("I wait");
    return { ...says("never"), heldUntil: held.promise };
  });
  await using yard = await startYard({ model, tools: [tick] });
  await yard.start("c");
  await must(yard.client.call("sendMessage", { params: { id: "c" }, body: { text: "go", mode: "queue" } }));
  await until("everybody is in the middle of something", async () => {
    const said = all(await yard.events("c"), "message.assistant").map(({ text }) => text);
    const { items } = await must(yard.client.call("listDecisions", {}));
    const isAsked = model.asked.some((request) => firstOf(request).startsWith("deep"));
    return ticks > 0 && isAsked && items.length === 1 && said.includes("I wait");
  });
  await must(yard.client.call("cancelTurn", { params: { id: "c" } }));
  const { outcome, events } = await yard.whenAtRest("c");
  const [ticked, asked] = [ticks, model.asked.length];
  held.resolve();
  assert.equal(outcome, "cancelled");
  const made = all(events, "agent.spawned");
  const ends = all(events, "agent.ended");
  assert.deepEqual(made.length, 5);
  assert.deepEqual(new Set(ends.map(({ id }) => id)), new Set(made.map(({ id }) => id)));
  assert.ok(ends.every(({ outcome }) => outcome === "terminated"));
  for (const { id, agent } of made.filter(({ agent }) => agent !== undefined))
    assert.ok(ends.findIndex((end) => end.id === id) < ends.findIndex((end) => end.id === agent), "from the bottom up");
  const begun = all(events, "call.started").map(({ agent = "root", call }) => `${agent} ${call}`);
  const finished = all(events, "call.finished").map(({ agent = "root", call }) => `${agent} ${call}`);
  assert.deepEqual(
    begun.filter((call) => !finished.includes(call)),
    [],
    "each call has its end",
  );
  assert.ok(events.at(-1)?.type === "turn.finished" && isRoots(events.at(-1) ?? assert.fail()));
  assert.deepEqual((await must(yard.client.call("listDecisions", {}))).items, []);
  // A whole turn later it is still so.
  const next = await yard.ask("again", { conversation: "c" });
  assert.equal(next.answer, "fresh");
  assert.deepEqual([ticks, model.asked.length], [ticked, asked + 1]);
  assert.ok(next.events.slice(events.length).every(isRoots));
});

const spawn = (name: string): [string, unknown] => ["spawn_agent", { role: name, task: `${name} it` }];
