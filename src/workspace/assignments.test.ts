import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openDatabase } from "../../test/world/database.ts";
import { ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import { ConversationId, OwnerId } from "../protocol/ids.ts";
import type { Storage } from "../storage/storage.ts";
import { agentRow, openAssignments } from "./assignments.ts";
import { layoutOf } from "./layout.ts";

test("an agent that root makes for a task has a folder of its own; whoever works for somebody has none [W2][W3]", () => {
  assert.deepEqual(agentRow({ agent: "a", parent: "root" }), { id: "a", parent: "root", folder: "workspaces/a" });
  assert.deepEqual(agentRow({ agent: "a", parent: "root", isTask: true }).folder, "workspaces/a");
  assert.deepEqual(agentRow({ agent: "a", parent: "root", isTask: false }).folder, undefined);
  assert.deepEqual(agentRow({ agent: "a", parent: "b" }), { id: "a", parent: "b", folder: undefined });
});

async function openTree(t: TestContext, changed: Partial<Storage> = {}) {
  const storage = openDatabase(t);
  const numbers: number[] = [];
  for (const id of ["one", "two"]) {
    const wanted = { owner: OwnerId.parse("alice"), id: ConversationId.parse(id), at: 1, events: [] };
    const made = await storage.createConversation(wanted);
    assert.ok(made.ok);
    numbers.push(made.value.number);
  }
  const [one = 0, two = 0] = numbers;
  return { one, two, storage, assignments: openAssignments({ ...storage, ...changed }, layoutOf("/data")) };
}

test("an agent that could not be stored is said not to be, with the reason [W3][Q2]", async (t) => {
  const full = failure("storage_full", {});
  const { assignments, storage, one } = await openTree(t, { append: async () => full });
  assert.deepEqual(await assignments.assign(one, { agent: "a", parent: "root" }), full);
  assert.deepEqual(await storage.agentsOf(one), []);
});

test("the answer for an agent of one conversation is none for that of another, and a worker keeps to the files of whom it works for [W3]", async (t) => {
  const { assignments, one, two } = await openTree(t);
  const found = async (number: number, agent: string) => {
    const answer = await assignments.find(number, agent);
    if (!answer.ok) return answer.failure.code;
    return answer.value === "conversation" ? answer.value : answer.value.folder;
  };
  assert.deepEqual(await assignments.assign(one, { agent: "a", parent: "root" }), ok(undefined));
  assert.deepEqual(await assignments.assign(one, { agent: "w", parent: "root", isTask: false }), ok(undefined));
  assert.deepEqual(await assignments.assign(one, { agent: "v", parent: "a", isTask: false }), ok(undefined));
  assert.deepEqual(await assignments.assign(one, { agent: "u", parent: "user" }), ok(undefined));
  const names = ["a", "w", "v", "u", "root", "user"];
  const answers = await Promise.all(names.map((agent) => found(one, agent)));
  assert.deepEqual(answers, ["workspaces/a", "conversation", "workspaces/a", ...Array(3).fill("conversation")]);
  assert.deepEqual(await found(two, "a"), "workspace_not_assigned");
  assert.deepEqual(await found(two, "w"), "workspace_not_assigned");
});
