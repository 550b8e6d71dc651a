import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyHistory, type History } from "./history-state.ts";
import { openSharing } from "./share-recipes.ts";

const recipesMax = 64;

function historyWith(system: string): History {
  const systemMessage = { role: "system", text: system } as const;
  const recipe = { ...{ system, systemMessage, tools: "[]", descriptions: [] }, startedAt: 1 };
  return { ...emptyHistory(), recipe };
}

test("conversations with the same recipe hold it once, up to the limit; beyond it what is shared begins anew and each still has its own", () => {
  const share = openSharing();
  const systems = Array.from({ length: recipesMax }, (_, index) => `system ${index}`);
  const first = systems.map((system) => share(historyWith(system)).recipe);
  const again = systems.map((system) => share(historyWith(system)).recipe);
  for (const [index, recipe] of again.entries()) {
    assert.equal(recipe?.systemMessage, first[index]?.systemMessage);
    assert.equal(recipe?.descriptions, first[0]?.descriptions);
  }
  const beyond = share(historyWith("one more")).recipe;
  assert.equal(beyond?.systemMessage.text, "one more");
  const anew = share(historyWith("system 0")).recipe;
  assert.deepEqual(anew?.systemMessage, first[0]?.systemMessage);
  assert.notEqual(anew?.systemMessage, first[0]?.systemMessage);
});
