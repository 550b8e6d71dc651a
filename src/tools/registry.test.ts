import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { ok } from "../base/result.ts";
import { localOwner, OwnerId } from "../protocol/ids.ts";
import { foreignTool } from "./foreign.ts";
import { type LeftOut, openRegistry, type RegistryOptions, toolsMax } from "./registry.ts";
import { defineTool, type Tool } from "./tool.ts";

const ours = defineTool({
  ...{ name: "read_it", description: "Ours.", aliases: ["see_it"], input: z.object({}) },
  run: () => ok({ text: "" }),
});

function theirs(name: string, description = "Theirs."): Tool {
  return foreignTool({ name, description, parameters: {}, run: async () => ok({ text: "" }) });
}

function opened(tools: readonly Tool[], options: Partial<RegistryOptions> = {}) {
  const told: LeftOut[] = [];
  const sources = [
    { origin: "mcp", source: { tools: () => tools } },
    { origin: "operator", source: { tools: () => boxes } },
  ] as const;
  const registry = openRegistry({
    ...{ builtins: [ours], sources, settings: [], onLeftOut: (left) => told.push(left) },
    ...options,
  });
  return { registry, told };
}

const boxes = [theirs("pay")];

test("a name stands for one tool: the first keeps it, the other is left out, told of once, with which one stands [T1]", () => {
  const { registry, told } = opened([theirs("Read-It"), theirs("seeIt"), theirs("pay"), theirs("a b"), theirs("fine")]);
  const rows = registry
    .list(localOwner)
    .map(({ name, origin, tier, why, takenBy }) => [name, origin, tier, why, takenBy]);
  assert.deepEqual(rows, [
    ["Read-It", "mcp", "off", "name_taken", "builtin"],
    ["a b", "mcp", "off", "name_unfit", undefined],
    ["fine", "mcp", "on_demand", undefined, undefined],
    ["pay", "mcp", "on_demand", undefined, undefined],
    ["pay", "operator", "off", "name_taken", "mcp"],
    ["read_it", "builtin", "loaded", undefined, undefined],
    ["seeIt", "mcp", "off", "name_taken", "builtin"],
  ]);
  assert.equal(registry.kitOf(localOwner).find("see_it")?.description, "Ours.");
  const expected = ["Read-It", "a b", "pay", "seeIt"];
  assert.deepEqual(told.map(({ name }) => name).sort(), expected);
  registry.list(OwnerId.parse("somebody"));
  assert.equal(told.length, expected.length);
});

test("tools.yaml says what is told of, found or off, and its change counts for the next who asks [T1][P5]", () => {
  const { registry } = opened([theirs("fine"), theirs("rare")]);
  const before = registry.kitOf(localOwner);
  const names = (tools: readonly Tool[]) => tools.map(({ name }) => name);
  assert.deepEqual([names(before.offered("full")), names(before.onDemand)], [["read_it"], ["fine", "pay", "rare"]]);
  assert.equal(registry.kitOf(localOwner), before);
  registry.change([
    ...([
      { name: "fine", tier: "loaded" },
      { name: "see_it", tier: "on_demand" },
    ] as const),
    ...([
      { name: "rare", tier: "off" },
      { name: "pay", words: "money" },
    ] as const),
  ]);
  const after = registry.kitOf(localOwner);
  assert.deepEqual([names(after.offered("full")), names(after.onDemand)], [["fine"], ["pay", "read_it"]]);
  assert.deepEqual(after.find("pay")?.words, "money");
  const refused = after.open({ id: "1", name: "rare", arguments: "{}" });
  assert.equal(refused.ok ? "" : refused.failure.code, "tool_not_found");
  assert.deepEqual(
    registry.list(localOwner).flatMap(({ name, why }) => (why === undefined ? [] : [[name, why]])),
    [["rare", "switched_off"]],
  );
});

test("each user has what the sources have for them, and users with the same tools share one toolkit [T1]", () => {
  const [ann, bob, eve] = ["ann", "bob", "eve"].map((name) => OwnerId.parse(name));
  assert.ok(ann !== undefined && bob !== undefined && eve !== undefined);
  const lists = { ann: [theirs("anns")], others: [theirs("all")] };
  const source = { tools: (owner: OwnerId) => (owner === ann ? lists.ann : lists.others) };
  const { registry } = opened([], { sources: [{ origin: "mcp", source }] });
  assert.deepEqual([registry.kitOf(ann).find("all"), registry.kitOf(bob).find("anns")], [undefined, undefined]);
  assert.equal(registry.kitOf(bob), registry.kitOf(eve));
  assert.deepEqual(["anns", "all", "read_it", "none"].map(registry.isKnown), [true, true, true, false]);
});

test(`a user has at most ${toolsMax} tools: what is beyond is left out by name [T1]`, () => {
  const many = Array.from({ length: toolsMax }, (_, n) => theirs(`t${n}`));
  const { registry, told } = opened(many, { sources: [{ origin: "mcp", source: { tools: () => many } }] });
  assert.equal(registry.kitOf(localOwner).onDemand.length, toolsMax - 1);
  assert.deepEqual(told, [{ name: `t${toolsMax - 1}`, origin: "mcp", why: "too_many" }]);
});
