import assert from "node:assert/strict";
import { test } from "node:test";
import { explainConfig } from "../../src/config/config.ts";
import { makePlace } from "../world/config-place.ts";

test("budgets and prices are set in files and by variables; 0 is no limit, and what was read is shown [A4][P5]", async (t) => {
  const place = makePlace(t);
  place.write(
    "config/agentyard.yaml",
    [
      "budgets:",
      "  conversation: { tokens: 2000000, usd: 5, agents: 0 }",
      "  turn: { seconds: 1.5 }",
      "prices:",
      "  gpt-5: { input: 1.25, output: 10, cached_input: 0.125 }",
      '  "qwen3:8b*": { input: 0, output: 0 }',
    ].join("\n"),
  );
  const config = await place.load();
  assert.deepEqual(config.budgets, {
    conversation: { tokens: 2_000_000, money: 5, depth: 5 },
    turn: { ms: 1_500 },
    agent: {},
  });
  assert.deepEqual(config.prices, {
    "gpt-5": { input: 1.25, output: 10, cachedInput: 0.125 },
    "qwen3:8b*": { input: 0, output: 0 },
  });
  const shown = explainConfig(config).find(({ name }) => name === "prices");
  assert.deepEqual(shown, {
    ...{ name: "prices", value: "gpt-5 1.25 10 0.125, qwen3:8b* 0 0", source: "config/agentyard.yaml:4" },
  });
  const env = { AGENTYARD_PRICES: "m 1 2, n 0.5 1 0.1", AGENTYARD_BUDGET_USD: "0.5" };
  const set = await place.load({ env });
  assert.deepEqual(
    [set.budgets.conversation.money, set.prices],
    [0.5, { m: { input: 1, output: 2 }, n: { input: 0.5, output: 1, cachedInput: 0.1 } }],
  );
});

test("a price that makes no sense is told with its line, and somebody else's folder does not decide what is spent [A4][P5][Q1]", async (t) => {
  const place = makePlace(t);
  place.write(
    "config/agentyard.yaml",
    "prices:\n  good: { input: 1, output: 2 }\n  cheap: { input: -1, output: 2 }\n  half: { input: 1 }\n  odd: 5\n  more: { input: 1, output: 2, tip: 3 }\nbudgets:\n  turn: { tokens: -5 }\n",
  );
  const told = (await place.mistakes()).map((line) => line.replace(/ is .*/, ""));
  assert.deepEqual(told, [
    ...["cheap", "half", "odd", "more"].map((name, at) => `config/agentyard.yaml:${at + 3}: prices.${name}`),
    "config/agentyard.yaml:8: budgets.turn.tokens",
  ]);
  const [first = ""] = await place.mistakes();
  assert.match(first, /Write what a million tokens cost in dollars, such as gpt-5: \{ input: 1\.25, output: 10/);
  for (const text of ["m", "m 1", "m 1 two", "m 1 2 3 4"])
    assert.equal(
      (await place.mistakes({ env: { AGENTYARD_PRICES: text } })).filter((line) => line.includes("AGENTYARD_PRICES"))
        .length,
      1,
      text,
    );

  const foreign = makePlace(t, { isClone: false });
  foreign.write(
    "config/agentyard.yaml",
    "budgets:\n  turn: { usd: 1000 }\nprices:\n  gpt-5: { input: 0, output: 0 }\n",
  );
  assert.deepEqual(
    (await foreign.mistakes()).map((line) => line.replace(/ Write .*/, "")),
    ["budgets.turn.usd", "prices"].map(
      (name, at) => `config/agentyard.yaml:${at + 2}: ${name} would let this folder decide what you spend.`,
    ),
  );
});
