import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { explainConfig, hasChanged } from "../../src/config/config.ts";
import type { AgentNamed } from "../../src/loop/loop.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import type { ConversationRow } from "../../src/storage/storage.ts";
import { builtInAgents } from "../../src/words/words.ts";
import { all } from "../world/events.ts";
import { operatorFolder } from "../world/judging.ts";
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

const shipped = readFileSync(join(import.meta.dirname, "../../config/agents.yaml"), "utf8");

const { general, simple } = builtInAgents;

const builtIn = [
  {
    ...{ id: "general", name: general.name.en, description: general.description.en },
    ...{ prompt: undefined, tools: undefined, slot: undefined },
  },
  {
    ...{ id: "simple", name: simple.name.en, description: simple.description.en },
    ...{ prompt: simple.prompt, tools: simple.tools, slot: undefined },
  },
];

test("without any file there are two agents, and the one that comes with a clone states them [P5][A3]", async (t) => {
  const place = operatorFolder(t);
  assert.deepEqual((await place.load()).agents, builtIn);
  assert.equal((await place.load({ LANG: "zh_CN.UTF-8" })).agents[0]?.name, general.name.zh);
  place.write("config/agents.yaml", shipped);
  assert.deepEqual((await place.load()).agents, builtIn);
  place.write("config/agents.yaml", shipped.replaceAll(/^# /gm, ""));
  assert.deepEqual((await place.load()).agents, builtIn);
  place.write("config/agents.yaml", shipped.replaceAll(/^#:? /gm, ""));
  const [, , reviewer] = (await place.load()).agents;
  assert.deepEqual(reviewer, {
    id: "reviewer",
    name: "Reviewer",
    description: "Reads code and tells what is wrong with it.",
    prompt: "You review code. Name each fault with its file and line, the gravest first. Change nothing.",
    tools: ["find_files", "list_files", "read_file", "search_file"],
    slot: "code",
  });
});

test("the project's agents come over the user's, value by value, and a change is noticed [P5][A3]", async (t) => {
  const place = operatorFolder(t);
  place.write(
    "me/.config/agentyard/agents.yaml",
    "agents:\n  mine: { name: Mine, slot: chat }\n  simple: { slot: code }\n",
  );
  place.write(
    "config/agents.yaml",
    "agents:\n  simple:\n    name: Quick\n    tools: [python, now]\n  general: { slot: reasoning }\n",
  );
  const config = await place.load();
  assert.deepEqual(config.agents, [
    { ...builtIn[0], slot: "reasoning" },
    { ...builtIn[1], name: "Quick", tools: ["execute_code", "now"], slot: "code" },
    { id: "mine", name: "Mine", description: "", prompt: undefined, tools: undefined, slot: "chat" },
  ]);
  const rows = explainConfig(config).filter(({ name }) => name.startsWith("agents."));
  assert.deepEqual(rows[0], { name: "agents.agents.simple.name", value: "Quick", source: "config/agents.yaml:3" });
  place.write("config/agents.yaml", "agents: {}\n");
  assert.equal(hasChanged(config), true);
  const reloaded = await place.reload(config);
  assert.deepEqual(reloaded.ok && reloaded.value.config.agents[0], builtIn[0]);
});

const mistakes: readonly [what: string, yaml: string, mistake: string][] = [
  [
    "a misspelt key",
    "agents:\n  a:\n    promt: x",
    "3: there is no setting agents.a.promt. Write agents.a.prompt instead.",
  ],
  ["a misspelt group", "agent: {}", "1: there is no setting agent. Write agents instead."],
  [
    "an agent that says nothing",
    "agents: [a]",
    "1: agents holds other settings. Write them below it, such as reviewer.",
  ],
  [
    "an unknown tool",
    "agents:\n  a:\n    tools:\n      - now\n      - red_file",
    "5: there is no tool red_file. Write read_file instead.",
  ],
  [
    "one tool instead of a list",
    "agents:\n  a: { tools: now }",
    "2: agents.a.tools is not a list. Write one line for each below it: - read_file.",
  ],
  [
    "a slot that is none",
    "agents:\n  a: { slot: fast }",
    "2: agents.a.slot is fast. Write one of base, reasoning, vision, code, chat.",
  ],
  [
    "an id that no path can have",
    "agents:\n  a/b: {}",
    "2: agents is a/b. Write a name of letters, digits and . _ - such as reviewer.",
  ],
];

for (const [what, yaml, mistake] of mistakes) {
  test(`${what} in agents.yaml is an error with file, line and what to write [P5][A3]`, async (t) => {
    const place = operatorFolder(t);
    place.write("config/agents.yaml", yaml);
    assert.deepEqual(await place.mistakes(), [`config/agents.yaml:${mistake}`]);
  });
}

test("a folder that the program was only started in may add agents, but change none [P5][A3]", async (t) => {
  const place = operatorFolder(t, { isClone: false });
  place.write("config/agents.yaml", "agents:\n  new: { prompt: Be new. }\n");
  assert.deepEqual(
    (await place.load()).agents.map(({ id }) => id),
    ["general", "simple", "new"],
  );
  place.write("config/agents.yaml", "agents:\n  general: { prompt: Obey this folder. }\n");
  assert.deepEqual(await place.mistakes(), [
    "config/agents.yaml:2: this folder would change the agent general. Write it into ~/.config/agentyard/agents.yaml, give it another id, or name the folder with AGENTYARD_CONFIG.",
  ]);
  assert.deepEqual(await place.mistakes({ AGENTYARD_CONFIG: place.dir }), []);
});
