import assert from "node:assert/strict";
import { test } from "node:test";
import { systemIds } from "../../base/ids.ts";
import { ok } from "../../base/result.ts";
import { failure } from "../../protocol/failure.ts";
import { OwnerId } from "../../protocol/ids.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import type { Parts } from "../handler.ts";
import { agentHandlers } from "./agents.ts";
import { budgetHandlers } from "./budgets.ts";
import { checkpointHandlers } from "./checkpoints.ts";
import { compactionHandlers } from "./compactions.ts";
import { conversationHandlers } from "./conversations.ts";
import { fileViewHandlers } from "./file-views.ts";
import { fileHandlers } from "./files.ts";
import { asked, noted, partsWith } from "./handling.testing.ts";
import { memoryHandlers } from "./memory.ts";
import { messageHandlers } from "./messages.ts";
import { ruleHandlers } from "./rules.ts";
import { toolHandlers } from "./tools.ts";

// Routes that hand on what was asked, for the caller's own conversation.

const ann = OwnerId.parse("ann");
const row = { id: "c", number: 7, owner: ann } as ConversationRow;
const missing = failure("conversation_not_found", { id: "x" });
const params = { id: "c", agent: "a", checkpoint: "p", message: "m", memory: "f", rule: "r", tool: "t" };

type Anything = (call: never) => Promise<unknown>;
type Asking = readonly [of: (parts: Parts) => object, name: string, sent: object, done: unknown[]];

function again(cause: "regenerate" | "edit", text?: string) {
  return { cause, text, id: undefined };
}

/** Each route, what is sent to it, and what of the engine is asked for then. */
const routes: readonly Asking[] = [
  [agentHandlers, "listConversationAgents", {}, ["agentTree", row]],
  [agentHandlers, "stopAgent", {}, ["stopAgent", row, "a"]],
  [budgetHandlers, "getBudget", {}, ["budget", row]],
  [budgetHandlers, "setBudget", { body: { dollars: 3 } }, ["setBudget", row, { dollars: 3 }]],
  [checkpointHandlers, "listCheckpoints", {}, ["checkpoints", row]],
  [checkpointHandlers, "saveCheckpoint", { body: { name: "n" } }, ["saveCheckpoint", row, "n", "made"]],
  [checkpointHandlers, "restoreCheckpoint", {}, ["restoreCheckpoint", row, "p"]],
  [checkpointHandlers, "deleteCheckpoint", {}, ["deleteCheckpoint", row, "p"]],
  [compactionHandlers, "compactConversation", { body: { focus: "x" } }, ["compact", row, { focus: "x" }]],
  [compactionHandlers, "undoCompaction", {}, ["undoCompaction", row]],
  [conversationHandlers, "deleteConversation", {}, ["remove", row]],
  [conversationHandlers, "getState", {}, ["state", row]],
  [conversationHandlers, "undoTurn", {}, ["undo", row]],
  [conversationHandlers, "replay", {}, ["replay", row]],
  [fileHandlers, "removeFile", { query: { path: "a.txt" } }, ["removeFile", row, "a.txt"]],
  [fileViewHandlers, "listFileHistory", { query: { path: "a.txt" } }, ["fileHistory", row, { path: "a.txt" }]],
  [messageHandlers, "withdrawMessage", {}, ["withdraw", row, "m"]],
  [messageHandlers, "resumeTurn", {}, ["resume", row]],
  [messageHandlers, "sayAgain", { body: {} }, ["sayAgain", row, "m", again("regenerate")]],
  [messageHandlers, "sayAgain", { body: { text: "t" } }, ["sayAgain", row, "m", again("edit", "t")]],
  [toolHandlers, "loadTool", {}, ["loadTool", row, "t"]],
];

/** What is never of a conversation. */
const ownRoutes: readonly Asking[] = [
  [memoryHandlers, "listMemory", {}, ["memory", ann]],
  [memoryHandlers, "addMemory", { body: { fact: "x" } }, ["addMemory", ann, "x"]],
  [memoryHandlers, "changeMemory", { body: { fact: "x" } }, ["changeMemory", ann, "f", "x"]],
  [memoryHandlers, "forgetMemory", {}, ["forgetMemory", ann, "f"]],
  [ruleHandlers, "revokeRule", {}, ["revokeRule", ann, "r"]],
  [ruleHandlers, "listRules", { query: {} }, ["rules", ann]],
];

/** An engine of which each part notes that it was asked. */
function noting() {
  const done: unknown[] = [];
  const engine = new Proxy(
    {},
    {
      get:
        (_, name) =>
        async (...of: unknown[]) =>
          noted(done, [name, ...of], ok("told")),
    },
  );
  const log = {
    find: async (owner: OwnerId, id: string) => (owner === ann && id === "c" ? ok(row) : missing),
  };
  return { done, parts: partsWith({ engine, log, ids: { ...systemIds, uuid: () => "made" } }) };
}

async function ask([of, name, sent]: Asking, parts: Parts, more: object = {}): Promise<unknown> {
  const handlers = of(parts) as Record<string, Anything>;
  return handlers[name]?.(asked("getState", { owner: ann, params, ...sent, ...more }) as never);
}

test("each route about a conversation asks for the caller's own one with what was sent, and for none that is not there [C7][S7]", async () => {
  for (const route of routes) {
    const { done, parts } = noting();
    assert.equal(Object(await ask(route, parts)).ok, true, route[1]);
    assert.deepEqual(done, [route[3]], route[1]);
    done.length = 0;
    assert.deepEqual(await ask(route, parts, { params: { ...params, id: "x" } }), missing, route[1]);
    assert.deepEqual(await ask(route, parts, { owner: OwnerId.parse("bob") }), missing, route[1]);
    assert.deepEqual(done, [], route[1]);
  }
});

test("each route about what a user has asks for the caller's own, and rules of a conversation for that one's as well [C7][S7]", async () => {
  for (const route of ownRoutes) {
    const { done, parts } = noting();
    assert.equal(Object(await ask(route, parts)).ok, true, route[1]);
    assert.deepEqual(done, [route[3]], route[1]);
  }
  const { done, parts } = noting();
  const rules: Asking = [ruleHandlers, "listRules", {}, []];
  await ask(rules, parts, { query: { conversation: "c" } });
  assert.deepEqual(await ask(rules, parts, { query: { conversation: "x" } }), missing);
  assert.deepEqual(done, [["rules", ann, row]]);
});
