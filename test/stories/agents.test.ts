import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { AgentNamed } from "../../src/loop/loop.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import type { ConversationRow } from "../../src/storage/storage.ts";
import { builtInAgents } from "../../src/words/words.ts";
import { all } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

/** A conversation of this agent, with a message that is answered. */
async function talkTo(yard: TestYard, named: AgentNamed, text = "hello") {
  const row = await must(yard.engine.create(localOwner, { agent: named }));
  await must(yard.engine.send(row, { text, mode: "queue" }));
  return { row, rested: await yard.whenAtRest(row.id) };
}

const rowOf = (yard: TestYard, id: string) => must(yard.log.find(localOwner, id));
const codeOf = (result: { ok: boolean; failure?: { code: string; params: object } }) =>
  result.ok ? "ok" : [result.failure?.code, result.failure?.params];

test("an agent has its own words and its own tools, and what it was not given does not exist for it [A3][C1]", async () => {
  await using model = await modelServer([calls(["execute_code", { code: "1" }]), says("I cannot."), says("hi")]);
  await using yard = await startYard({ model });
  const { row, rested } = await talkTo(yard, { agentId: "simple" });
  const [first, second] = model.asked;
  assert.equal(rested.answer, "I cannot.");
  assert.deepEqual(
    first?.body.tools?.map((tool) => tool.function.name),
    [...builtInAgents.simple.tools, "transfer_to_general"].toSorted(),
  );
  const [system] = first?.body.messages ?? [];
  assert.ok(String(system?.content).startsWith(`${builtInAgents.simple.prompt}\n\n`));
  assert.match(String(second?.body.messages.at(-1)?.content), /^Error: .*execute_code/);
  assert.equal(all(rested.events, "call.started").length, 0);
  assert.deepEqual([row.agentId, row.appKey, all(rested.events, "agent.chosen").length], ["simple", undefined, 1]);
  const main = await yard.ask("hello");
  assert.ok((model.asked[2]?.body.tools?.length ?? 0) > builtInAgents.simple.tools.length + 1);
  assert.deepEqual(all(main.events, "agent.chosen"), []);
});

test("the first name that there is an agent for counts, any other means the main one, and all are kept as given [C1]", async () => {
  await using yard = await startYard();
  const chosen = async (named: AgentNamed) => {
    const row = await must(yard.engine.create(localOwner, {}));
    const role = await must(yard.engine.chooseAgent(row, named));
    const { agentId, appKey } = await rowOf(yard, row.id);
    return [role.id, agentId, appKey];
  };
  assert.deepEqual(
    [
      await chosen({ agentId: "simple", agentKey: "general", appKey: "app" }),
      await chosen({ agentId: "01J", agentKey: "simple", appKey: "app" }),
      await chosen({ agentId: "01J", agentKey: "none", appKey: "simple" }),
      await chosen({ agentId: "01J", appKey: "app" }),
      await chosen({}),
    ],
    [
      ["simple", "simple", "app"],
      ["simple", "01J", "app"],
      ["simple", "01J", "simple"],
      ["general", "01J", "app"],
      ["general", undefined, undefined],
    ],
  );
  const { items } = await must(yard.client.call("listAgents"));
  assert.deepEqual(items[1], {
    ...{ id: "simple", name: "Simple", description: builtInAgents.simple.description.en },
    ...{ tools: [...builtInAgents.simple.tools], slot: null },
  });
});

test("a conversation stays with the agent of its first turn, whoever asks and whatever is taken back [S5][C1]", async () => {
  await using model = await modelServer(() => says("ok"));
  await using yard = await startYard({ model });
  const { row } = await talkTo(yard, { agentId: "simple", appKey: "shop" });
  const asked = (named: AgentNamed, place: ConversationRow = row) => yard.engine.chooseAgent(place, named);
  const refused = ["conversation_of_agent", { id: row.id, agent: "simple" }];
  assert.deepEqual(codeOf(await asked({ agentId: "general" })), refused);
  assert.deepEqual(codeOf(await asked({ agentId: "01J" })), refused);
  assert.equal((await must(asked({ agentId: "simple" }))).id, "simple");
  assert.equal((await must(asked({ appKey: "general" }))).id, "simple");
  assert.equal((await must(asked({}))).id, "simple");
  await must(yard.engine.reset(row));
  assert.deepEqual(codeOf(await asked({ agentId: "general" })), refused);
  const branch = await must(yard.engine.branch(row));
  assert.deepEqual([branch.conversation.agentId, branch.conversation.appKey], ["simple", "shop"]);
  assert.equal((await must(asked({}, branch.conversation))).id, "simple");

  const begun = await yard.ask("in the terminal");
  const old = await rowOf(yard, begun.conversation);
  assert.deepEqual(codeOf(await asked({ agentId: "simple" }, old)), [
    ...["conversation_of_agent", { id: old.id, agent: "general" }],
  ]);
  assert.equal((await must(asked({ agentId: "01J", appKey: "simple" }, old))).id, "general");
  assert.equal((await rowOf(yard, old.id)).agentId, "01J");
  assert.deepEqual(codeOf(await asked({ agentId: "02K" }, old)), [
    ...["conversation_of_agent", { id: old.id, agent: "01J" }],
  ]);
});

test("of two callers who name different agents at once one is first, and the other is told [S5]", async () => {
  await using yard = await startYard();
  for (let round = 0; round < 5; round += 1) {
    const row = await must(yard.engine.create(localOwner, {}));
    const answers = await Promise.all(
      ["simple", "general", "01J", "simple"].map((agentId) => yard.engine.chooseAgent(row, { agentId })),
    );
    const { agentId } = await rowOf(yard, row.id);
    assert.deepEqual(
      answers.map(({ ok }) => ok),
      ["simple", "general", "01J", "simple"].map((id) => id === agentId),
    );
  }
});

test("an agent that works in a slot of its own is answered from there, unless the user prefers another [A3][M2]", async (t) => {
  const data = folderWith(t, "agents:\n  coder: { slot: code, tools: [now] }\n");
  await using base = await modelServer(() => says("from base"));
  await using code = await modelServer(() => says("from code"));
  const env = { MODEL_CODE_BASE_URL: code.url, MODEL_CODE_ID: "coder", MODEL_CODE_CONTEXT_WINDOW: "128000" };
  await using yard = await startYard({ model: base, data, env });
  const { row, rested } = await talkTo(yard, { agentId: "coder" });
  await must(yard.engine.send(row, { text: "again", mode: "queue", slot: "base" }));
  assert.deepEqual([rested.answer, (await yard.whenAtRest(row.id)).answer], ["from code", "from base"]);
});

test("a program's own conversation works like others, and is in no list [C5]", async () => {
  await using model = await modelServer(() => says("ok"));
  await using yard = await startYard({ model });
  const row = await must(yard.engine.create(localOwner, { origin: "program", agent: { agentId: "simple" } }));
  await must(yard.engine.send(row, { text: "hello", mode: "queue" }));
  assert.equal((await yard.whenAtRest(row.id)).answer, "ok");
  const { items } = await must(yard.client.call("listConversations"));
  assert.deepEqual([items, (await rowOf(yard, row.id)).origin], [[], "program"]);
});

/** A data folder that is also the project's, with its agents. */
function folderWith(t: TestContext, agents: string): string {
  const dir = mkdtempSync(join(tmpdir(), "agentyard-agents-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, "config"));
  writeFileSync(join(dir, "config", "agents.yaml"), agents);
  return dir;
}

test("a conversation that began without the id of an agent keeps the first that it is given, and no other [S5][C1]", async () => {
  await using yard = await startYard({});
  const row = await must(yard.engine.create(localOwner, { id: "c", agent: { appKey: "shop" } }));
  await must(yard.engine.chooseAgent(row, { agentId: "01J" }));
  const other = await yard.engine.chooseAgent(row, { agentId: "01K" });
  const { agentId, appKey } = await must(yard.log.find(localOwner, "c"));
  assert.deepEqual(
    [agentId, appKey, other.ok ? "chosen" : other.failure.code],
    ["01J", "shop", "conversation_of_agent"],
  );
});
