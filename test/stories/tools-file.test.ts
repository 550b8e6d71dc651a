import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { explainConfig, hasChanged } from "../../src/config/config.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { builtins, openRegistry, type ToolSetting } from "../../src/tools/tools.ts";
import { all } from "../world/events.ts";
import { operatorFolder } from "../world/judging.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { startYard } from "../world/yard.ts";

const shipped = readFileSync(join(import.meta.dirname, "../../config/tools.yaml"), "utf8");

function tiersOf(settings: readonly ToolSetting[]) {
  const registry = openRegistry({ builtins, sources: [], settings, onLeftOut: () => {} });
  return registry.list(localOwner).map(({ name, tier }) => [name, tier]);
}

test("the tools.yaml that comes with a clone changes nothing, and without its comment signs it states the defaults [P5][T1]", async (t) => {
  const place = operatorFolder(t);
  assert.deepEqual((await place.load()).tools, []);
  place.write("config/tools.yaml", shipped);
  assert.deepEqual((await place.load()).tools, []);
  place.write("config/tools.yaml", shipped.replaceAll(/^# /gm, ""));
  const stated = (await place.load()).tools;
  assert.deepEqual(tiersOf(stated), tiersOf([]));
  assert.equal(stated.length, builtins.length);
  place.write("config/tools.yaml", shipped.replaceAll(/^#:? /gm, ""));
  assert.deepEqual((await place.load()).tools.slice(builtins.length), [
    { name: "mcp__github__delete_repo", tier: "off" },
    { name: "mcp__github__list_issues", tier: "loaded" },
    { name: "find_invoice", tier: "on_demand", words: "billing money customers" },
  ]);
});

test("the project's tools.yaml comes over the user's, tool by tool, by any name of a tool; a change is noticed [P5][T1]", async (t) => {
  const place = operatorFolder(t);
  const user = "optional:\n  python: { enabled: false }\n  now: { enabled: no, tags: [clock] }\n";
  place.write("me/.config/agentyard/tools.yaml", user);
  place.write(
    "config/tools.yaml",
    "core: [now]\noptional:\n  read_file: { available_to_subagent: true, category: files }\n",
  );
  const config = await place.load();
  assert.deepEqual(config.tools, [
    { name: "execute_code", tier: "off" },
    { name: "now", tier: "loaded", words: "clock" },
    { name: "read_file", tier: "loaded", words: "files" },
  ]);
  const rows = explainConfig(config).filter(({ name }) => name.startsWith("tools."));
  assert.deepEqual(rows.at(-1), { name: "tools.optional.now.tags", value: "clock", source: rows.at(-1)?.source });
  assert.deepEqual(rows[0], { name: "tools.core", value: "now", source: "config/tools.yaml:1" });
  place.write("config/tools.yaml", "core: {}\n");
  assert.equal(hasChanged(config), true);
  const reloaded = await place.reload(config);
  assert.deepEqual(reloaded.ok && reloaded.value.config.tools.length, 2);
});

const mistakes: readonly [what: string, yaml: string, mistake: string][] = [
  ["a misspelt group", "cores: {}", "1: there is no setting cores. Write core instead."],
  [
    "a misspelt key",
    "optional:\n  now:\n    enable: true",
    "3: there is no setting optional.now.enable. Write optional.now.enabled instead.",
  ],
  ["a tool that is misspelt", "core:\n  red_file:", "2: there is no tool red_file. Write read_file instead."],
  ["a name that no tool can have", "core: [read file]", "1: there is no tool read file. Write read_file instead."],
  [
    "a value that is none",
    "optional:\n  now: { enabled: perhaps }",
    "2: optional.now.enabled is perhaps. Write true or false.",
  ],
  ["a word in place of tools", "core: now", "1: core holds other settings. Write them below it, such as read_file."],
  [
    "one tag in place of a list",
    "core:\n  now: { tags: web }",
    "2: core.now.tags is not a list. Write one line for each below it: - web.",
  ],
];
for (const [what, yaml, mistake] of mistakes) {
  test(`${what} in tools.yaml is an error with file, line and what to write [P5][T1]`, async (t) => {
    const place = operatorFolder(t);
    place.write("config/tools.yaml", yaml);
    assert.deepEqual(await place.mistakes(), [`config/tools.yaml:${mistake}`]);
  });
}

test("a folder that the program was only started in may switch tools off, but not on again what the user switched off [P5][T1]", async (t) => {
  const place = operatorFolder(t, { isClone: false });
  place.write("me/.config/agentyard/tools.yaml", "optional: { execute_code: { enabled: false } }\n");
  place.write("config/tools.yaml", "core: [execute_code]\noptional: { now: { enabled: false } }\n");
  const [mistake, ...others] = await place.mistakes();
  assert.match(
    mistake ?? "",
    /^config\/tools\.yaml:1: this folder would switch the tool execute_code on again\. .*~\/\.config/,
  );
  assert.deepEqual(others, []);
  place.write("config/tools.yaml", "optional: { now: { enabled: false } }\n");
  assert.deepEqual(
    (await place.load()).tools.map(({ name, tier }) => [name, tier]),
    [
      ["execute_code", "off"],
      ["now", "off"],
    ],
  );
});

test("a changed tools.yaml counts from the next turn on: what is off cannot be called, what is loaded is told of [P5][T1]", async (t) => {
  const place = operatorFolder(t);
  await using model = await modelServer([calls(["now", {}]), says("one"), calls(["now", {}]), says("two")]);
  const told = () => model.asked.map(({ body }) => body.tools?.map((tool) => tool.function.name) ?? []);
  let text = "core: [now]";
  await using yard = await startYard({
    model,
    reload: async () => {
      place.write("config/tools.yaml", text);
      return { ...yard.config, tools: (await place.load()).tools };
    },
  });
  const { conversation } = await yard.ask("one");
  text = "optional: { now: { enabled: false }, remember: }";
  const { events } = await yard.ask("two", { conversation });
  assert.deepEqual(
    all(events, "call.finished").map(({ outcome, failure }) => [outcome, failure?.code]),
    [
      ["ok", undefined],
      ["error", "tool_not_found"],
    ],
  );
  assert.deepEqual(
    told().map((names) => [names.includes("now"), names.includes("remember")]),
    [
      [true, true],
      [true, true],
      [false, false],
      [false, false],
    ],
  );
  assert.deepEqual(
    all(events, "recipe.set").map(({ cause }) => cause),
    ["start", "tools_changed"],
  );
});
