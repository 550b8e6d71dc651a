import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentRole } from "../../src/protocol/agent.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { builtInAgents, forModels } from "../../src/words/words.ts";
import { firstOf, lastOf } from "../world/company.ts";
import { all, until } from "../world/events.ts";
import { type Answer, calls, modelServer, says } from "../world/model-server.ts";
import { must, startYard } from "../world/yard.ts";

// Another agent takes the user over, in the same history, and the main agent is back when it is done.

const role = (id: string, more: Partial<AgentRole> = {}): AgentRole => ({
  ...{ id, name: id.toUpperCase(), description: `Knows all about ${id}`, prompt: `You are ${id}.`, tools: ["now"] },
  slot: undefined,
  ...more,
});
const others = ["a", "b", "c", "d", "e"].map((id) => role(id));
const toolsIn = (asked: { body: { tools?: readonly { function: { name: string } }[] } } | undefined) =>
  asked?.body.tools?.map((tool) => tool.function.name) ?? [];

test("a hand-off moves the user to another agent with its own words and tools; with the next turn the main agent is back [A3]", async () => {
  await using model = await modelServer([
    calls(["transfer_to_simple", { task: "Say hello to Ann." }]),
    says("Hello, Ann."),
    says("I am back."),
  ]);
  await using yard = await startYard({ model });
  const { conversation, answer, outcome, events } = await yard.ask("let Simple greet me");
  assert.deepEqual([answer, outcome], ["Hello, Ann.", "done"]);
  const [first, second] = model.asked;
  assert.ok(toolsIn(first).includes("transfer_to_simple") && !toolsIn(first).includes("transfer_to_general"));
  assert.deepEqual(toolsIn(second), [...builtInAgents.simple.tools, "transfer_to_general"].toSorted());
  assert.ok(String(second?.body.messages[0]?.content).startsWith(builtInAgents.simple.prompt));
  const said = second?.body.messages.slice(1).map(({ role, content }) => [role, content]);
  assert.deepEqual(
    said?.map(([role]) => role),
    ["user", "assistant", "tool", "user"],
  );
  assert.equal(said?.[2]?.[1], "✓ Transferred to Simple");
  assert.match(String(said?.[3]?.[1]), /^Say hello to Ann\.\n\n\(You were handed this by another agent/);
  assert.deepEqual(
    all(events, "recipe.set").map(({ cause, role }) => [cause, role]),
    [
      ["start", undefined],
      ["hand_off", "simple"],
    ],
  );
  const [spawned] = all(events, "agent.spawned");
  assert.deepEqual(
    [spawned?.mode, spawned?.role, spawned?.name, all(events, "agent.ended").map(({ id, outcome }) => [id, outcome])],
    ["handoff", "simple", "Simple", [[spawned?.id, "done"]]],
  );
  assert.deepEqual(
    events.slice(-3).map(({ type }) => type),
    ["message.assistant", "agent.ended", "turn.finished"],
  );
  const next = await yard.ask("and you?", { conversation });
  const [third] = model.asked.slice(2);
  assert.deepEqual([next.answer, toolsIn(third)], ["I am back.", toolsIn(first)]);
  assert.equal(all(next.events, "recipe.set").at(-1)?.cause, "hand_back");
  assert.deepEqual(third?.body.messages[0], first?.body.messages[0], "word for word what it was before");
  const { spent } = await must(yard.client.call("getBudget", { params: { id: conversation } }));
  assert.equal(spent.agents, 1);
});

test("who is at work already is not handed over to again, nor anybody behind five, nor two at once; the others of the answer go on [A3]", async () => {
  const transfer = (id: string): [string, unknown] => [`transfer_to_${id}`, { task: `go to ${id}` }];
  const answers: Answer[] = [
    calls(transfer("a"), ["now", {}], transfer("b")),
    calls(transfer("general")),
    calls(transfer("b")),
    calls(transfer("a")),
    calls(transfer("c")),
    calls(transfer("d")),
    calls(transfer("e")),
    says("enough"),
  ];
  await using model = await modelServer(answers);
  await using yard = await startYard({ model, agents: others });
  const { answer, events } = await yard.ask("round and round");
  assert.equal(answer, "enough");
  const results = all(events, "call.finished").map(({ outcome, failure }) => failure?.params.because ?? outcome);
  assert.deepEqual(results, ["ok", "ok", "twice", "acting", "ok", "acting", "ok", "ok", "depth"]);
  assert.ok(
    all(events, "call.finished").every(({ failure }) => (failure?.code ?? "transfer_refused") === "transfer_refused"),
  );
  const wrong = all(events, "call.finished").find(({ failure }) => failure?.params.because === "acting");
  assert.match(
    wrong?.text ?? "",
    /^Error: transfer_refused: General cannot be handed over to: .*general → a\)\. Answer/,
  );
  assert.deepEqual(
    all(events, "agent.ended").map(({ id }) => id),
    all(events, "agent.spawned")
      .map(({ id }) => id)
      .toReversed(),
    "all of them are back, the last one first",
  );
  assert.ok(String(model.asked.at(-1)?.body.messages[0]?.content).startsWith("You are d."));
});

test("the budget counts agents and how deep they stand, whoever makes them; who may not have one answers itself [A3][A4]", async () => {
  for (const [limits, kind] of [
    [{ agents: 1 }, "agents"],
    [{ depth: 1 }, "depth"],
  ] as const) {
    await using model = await modelServer([
      calls(["transfer_to_a", { task: "one" }]),
      calls(["transfer_to_b", { task: "two" }]),
      says("I do it myself."),
    ]);
    await using yard = await startYard({ model, agents: others });
    const { id } = await must(yard.client.call("createConversation", { body: {} }));
    await must(yard.client.call("setBudget", { params: { id }, body: limits }));
    const { answer, events } = await yard.ask("go", { conversation: id });
    assert.equal(answer, "I do it myself.");
    assert.deepEqual(
      all(events, "call.finished").map(({ failure }) => failure && [failure.code, failure.params.kind]),
      [undefined, ["budget_short", kind]],
    );
  }
});

test("a conversation that belongs to another agent can be handed over to the main one; what stops the turn hands back [A3][L6]", async () => {
  await using model = await modelServer([
    calls(["transfer_to_simple", { task: "me?" }], ["transfer_to_general", { task: "write code" }]),
    says("general here"),
    calls(["transfer_to_general", { task: "again" }]),
    { text: "never", fault: { after: 0, kind: "stall" } },
  ]);
  await using yard = await startYard({ model });
  const row = await must(yard.engine.create(localOwner, { agent: { agentId: "simple" } }));
  await must(yard.engine.send(row, { text: "hi", mode: "queue" }));
  const { answer, events } = await yard.whenAtRest(row.id);
  assert.equal(answer, "general here");
  assert.deepEqual(
    all(events, "call.finished").map(({ failure }) => failure?.code),
    ["tool_not_found", undefined],
    "an agent has no tool that leads to itself",
  );
  await must(yard.engine.send(row, { text: "again", mode: "queue" }));
  await until("the agent that was handed over to is asked", () => model.asked.length === 4);
  await must(yard.engine.cancel(row));
  const stopped = await yard.whenAtRest(row.id);
  assert.deepEqual([stopped.outcome, all(stopped.events, "agent.ended").at(-1)?.outcome], ["cancelled", "terminated"]);
});

test("an agent that works for another one hands its task over, too: the other answers in its place, and is back with its end [A3][W3]", async () => {
  await using model = await modelServer((request) => {
    const { role: speaker, text } = lastOf(request);
    if (firstOf(request).startsWith("draw")) {
      if (!text.includes("as A does") && speaker === "user")
        return calls(["transfer_to_a", { task: "draw it as A does" }]);
      return speaker === "tool"
        ? says("a drew it")
        : calls(["write_file", { path: "outputs/drawing.txt", content: "o" }]);
    }
    if (text.startsWith("[")) return says(`told: ${text.split("\n")[1]}`);
    return speaker === "tool" ? says("waiting") : calls(["spawn_agent", { role: "painter", task: "draw" }]);
  });
  await using yard = await startYard({ model, agents: [role("a", { tools: ["write_file"] })] });
  const { answer, events } = await yard.ask("go");
  assert.equal(answer, "told: a drew it");
  const [painter, a] = all(events, "agent.spawned");
  assert.deepEqual([painter?.mode, a?.mode, a?.agent, a?.role], ["task", "handoff", painter?.id, "a"]);
  assert.equal(a?.brief, forModels.handOff.brief("draw it as A does", true));
  const drawing = model.asked.filter((request) => firstOf(request).startsWith("draw"));
  assert.ok(toolsIn(drawing[0]).includes("transfer_to_a"));
  assert.match(String(drawing[0]?.body.messages[0]?.content), /whom you can hand your task over to/);
  assert.deepEqual(toolsIn(drawing[1]), ["transfer_to_general", "transfer_to_simple", "write_file"]);
  assert.match(String(drawing[1]?.body.messages[0]?.content), /You are a\./);
  assert.deepEqual(
    all(events, "agent.ended").map(({ agent, id, outcome, folder }) => [agent, id, outcome, folder]),
    [
      [painter?.id, a?.id, "done", undefined],
      [undefined, painter?.id, "done", "outputs/painter"],
    ],
  );
  assert.equal(all(events, "agent.ended").at(-1)?.spent?.agents, 1, "who was handed over to counts");
});
