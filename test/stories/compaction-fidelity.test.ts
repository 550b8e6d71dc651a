import assert from "node:assert/strict";
import { test } from "node:test";
import { recallAfter } from "../world/fidelity.ts";
import { prefixReuse } from "../world/prefix-reuse.ts";

// `npm run bench context` prints all of it. Here stands what the code owes, whatever a model makes of it.

test("with a summariser that forgets everything, what the user wants, decided and has open, and the files, are all there, however often room was made [Z2][Z3]", async () => {
  const at = [1, 3, 10];
  const recalls = await recallAfter("forgetful", { windowTokens: 8_192, at });
  const floor = { instructions: 1, files: 1, decisions: 1, "to-dos": 1 };
  assert.deepEqual(
    recalls.map(({ compactions, shares: { facts: _, errors: __, ...shares } }) => ({ compactions, shares })),
    at.map((compactions) => ({ compactions, shares: floor })),
  );
});

test("what an honest summariser takes over stays through later summaries [Z2]", async () => {
  const [once, thrice] = await recallAfter("honest", { windowTokens: 8_192, at: [1, 3] });
  const everything = { instructions: 1, files: 1, decisions: 1, "to-dos": 1, facts: 1, errors: 1 };
  assert.deepEqual([once?.shares, thrice?.shares], [everything, everything]);
});

test("over a long conversation with reminders, lists, files and one compaction, nearly all of each request is in the cache already [L3][L4]", async () => {
  const [ours, clock, , tools, naive] = await prefixReuse({ turns: 10, stepsPerTurn: 10 });
  assert.ok((ours?.share ?? 0) >= 0.95, `${ours?.share}`);
  assert.deepEqual([ours?.layout, clock?.layout, naive?.layout], ["ours", "a clock in the prompt", "all of these"]);
  for (const { share = 1 } of [clock ?? {}, tools ?? {}, naive ?? {}]) assert.ok(share < 0.5, `${share}`);
});
