import assert from "node:assert/strict";
import { test } from "node:test";
import { firstOf, lastOf } from "../world/company.ts";
import { all, until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { must, startYard } from "../world/yard.ts";

const atOnce = 8;
const roles = [...Array<string>(7).fill("painter"), "Root", "user", " Parent!", "…", "Über-Maler 2"];
const names = [
  ...["painter", "painter-2", "painter-3", "painter-4", "painter-5", "painter-6", "painter-7"],
  ...["root-2", "user-2", "parent-2", "task", "über-maler-2"],
];

test("of many agents eight work at once, the next when one ends; each has a name of its own, and the list says who works and who waits [A1][L8]", async () => {
  const [one, others] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let held = 0;
  let most = 0;
  await using model = await modelServer((request) => {
    const { role, text } = lastOf(request);
    if (firstOf(request).startsWith("part")) {
      held += 1;
      most = Math.max(most, held);
      return { ...says("my part"), heldUntil: firstOf(request) === "part 0" ? one.promise : others.promise };
    }
    if (text.startsWith("[The agent painter ")) return calls(["send_message", { to: "painter", text: "thanks" }]);
    const tasks = roles.map((name, n): [string, unknown] => ["spawn_agent", { role: name, task: `part ${n}` }]);
    return role === "user" ? calls(...tasks) : says("they are at it");
  });
  await using yard = await startYard({ model });
  await yard.start("c");
  const listed = async () => (await must(yard.client.call("listConversationAgents", { params: { id: "c" } }))).items;
  await must(yard.client.call("sendMessage", { params: { id: "c" }, body: { text: "go", mode: "queue" } }));
  await until("eight are at work", () => held >= atOnce);
  await until("the main agent waits for them", async () => (await listed())[0]?.state === "waiting_agents");
  const [, ...made] = await listed();
  assert.deepEqual([made.map(({ name }) => name).toSorted(), most], [names.toSorted(), atOnce]);
  assert.ok(made.every(({ state, endedAt }) => state === "working" && endedAt === null));
  held -= 1;
  one.resolve();
  await until("the next one works", () => held >= atOnce);
  await until("the one that has ended was thanked", async () =>
    all(await yard.events("c"), "message.assistant").some(({ text }, at) => at > 0 && text === "they are at it"),
  );
  const [ended] = all(await yard.events("c"), "agent.ended");
  const painter = (await listed()).find(({ name }) => name === "painter");
  assert.deepEqual([painter?.state, painter?.endedAt, painter?.result], ["done", ended?.at, "my part"]);
  await must(yard.client.call("cancelTurn", { params: { id: "c" } }));
  const { events } = await yard.whenAtRest("c");
  others.resolve();
  assert.equal(most, atOnce);
  assert.deepEqual(
    all(events, "call.finished").flatMap(({ failure }) => failure?.code ?? []),
    ["agent_ended"],
  );
  assert.equal(all(events, "agent.ended").length, roles.length);
});
