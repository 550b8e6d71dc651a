import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, step } from "../../test/world/any-log.ts";
import { emptyHistory } from "../log/log.ts";
import type { NewEvent } from "../protocol/events.ts";
import { localOwner } from "../protocol/ids.ts";
import { recipeNow } from "./agent-tools.ts";
import { openCompactions } from "./compactions.ts";
import { openDriver } from "./driver.ts";
import { leftOver, running } from "./left-over.testing.ts";
import { replayConversation } from "./replay.ts";

test("a replay names what this version would say to the model in other words, and which tools it would tell of otherwise, with both [L2][L3]", async (t) => {
  const { parts, start, clock } = await leftOver(t);
  const recipe = recipeNow(emptyHistory(), parts, { at: 1_794_700_000_000, own: {}, owner: localOwner });
  assert.ok(recipe?.type === "recipe.set");
  clock.move(99_000_000);
  const differencesOf = async (id: string, more: object) => {
    const row = await start(id, { ...recipe, ...more } as NewEvent);
    return (await replayConversation(parts, row)).differences;
  };
  assert.deepEqual(await differencesOf("same", {}), [], "its own words of that time are the same");
  assert.deepEqual(await differencesOf("words", { system: "Be kind." }), [
    { seq: 1, what: "prompt", recorded: "Be kind.", now: recipe.system },
  ]);
  assert.deepEqual(await differencesOf("tools", { tools: "[]" }), [
    { seq: 1, what: "tools", recorded: "[]", now: recipe.tools },
  ]);
});

test("a replay of what counts says nothing of a turn that was undone, and counts turns and steps of all agents [L2][L9]", async (t) => {
  const { parts, start } = await leftOver(t);
  const undone: NewEvent[] = [...running, step(1), answer(1, []), { type: "rewound", to: 0, cause: "undo" }];
  const row = await start("c", ...undone, ...running);
  assert.deepEqual(await replayConversation(parts, row), { turns: 1, steps: 0, differences: [] });
});

test("undoing a compaction is about the main agent's: what was left out for an agent that worked for it is not looked at [Z2][A1]", async (t) => {
  const { parts, start } = await leftOver(t);
  const compacted = { type: "compacted", turn: 1, strategy: "compact", messagesBefore: 2, messagesAfter: 1 } as const;
  const ended: NewEvent = { type: "turn.finished", turn: 1, outcome: "done" };
  const row = await start(
    "c",
    ...[...running, step(1), answer(1, [])],
    { ...compacted, upTo: 4, summary: "in short" },
    { type: "agent.spawned", id: "w", mode: "worker", role: "writer", brief: "write" },
    { ...compacted, agent: "w", upTo: 6, summary: "its own" },
    ended,
  );
  const driver = openDriver(parts);
  t.after(() => driver.close());
  const { undoCompaction } = openCompactions(parts, driver);
  assert.deepEqual(await undoCompaction(row), { ok: true, value: { seq: 9 } });
  const [undone] = await parts.log.read(row.number, { after: 8, limit: 1 });
  assert.deepEqual(undone?.type === "compaction.undone" && [undone.compacted, undone.by], [5, localOwner]);
  const none = await undoCompaction(row);
  assert.equal(none.ok || none.failure.code, "compaction_not_found");
});
