import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { explainConfig, hasChanged } from "../../src/config/config.ts";
import { builtInAgents } from "../../src/words/words.ts";
import { operatorFolder } from "../world/judging.ts";

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
