import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, numbered, step } from "../../test/world/any-log.ts";
import { testWorkspace } from "../../test/world/workspace.ts";
import { ok } from "../base/result.ts";
import { foldHistory } from "../log/log.ts";
import type { AllowRule } from "../protocol/approval.ts";
import type { NewEvent } from "../protocol/events.ts";
import { failure } from "../protocol/failure.ts";
import { localOwner } from "../protocol/ids.ts";
import type { Storage } from "../storage/storage.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { openBudgets } from "./budgets.ts";
import { lastText, snippet } from "./last-text.ts";
import { leftOver } from "./left-over.testing.ts";
import { openLoadTool } from "./load-tool.ts";
import { openMemory, toolMemory } from "./memory.ts";
import type { Parts } from "./parts.ts";
import { conversationRow } from "./rows.testing.ts";
import { openRules, ruleRow } from "./rules.ts";
import { hasCode, selectFiles } from "./selected.ts";

const full = failure("storage_full", {});

test("a conversation is listed by one line of at most 120 characters of what was said last, not by what a tool said [C3]", () => {
  assert.equal(snippet("  a\n\n b\tc "), "a b c");
  assert.equal(snippet("x".repeat(120)), "x".repeat(120));
  assert.equal(snippet("x".repeat(121)), `${"x".repeat(119)}…`);
  const events: NewEvent[] = [
    { type: "message.user", id: "a", text: "go", mode: "queue" },
    { type: "turn.started", turn: 1, message: "a", epoch: 1 },
    ...[step(1), answer(1, ["x"])],
    { type: "call.finished", call: "x", outcome: "ok", text: "seen" },
  ];
  assert.equal(lastText(foldHistory(numbered(events))), "answer 1");
  assert.equal(lastText(foldHistory([])), "");
});

test("a memory is one line, known again whoever writes it down how, and changed by its user it is theirs and keeps its place [Z4]", async (t) => {
  const { parts: own, clock } = await leftOver(t);
  const ids = { hex: (characters: number) => String(clock.now()).padStart(characters, "0"), uuid: () => "" };
  const parts: Parts = { ...own, ids };
  const { memory, addMemory, changeMemory, forgetMemory } = openMemory(parts);
  const row = conversationRow("c");
  clock.move(5);
  const first = await toolMemory(parts, row, "c/1/1/x").add(" likes\n tea ");
  assert.deepEqual(first, ok({ count: 1, isNew: true }));
  assert.deepEqual(await toolMemory(parts, row, "c/1/1/x").add("likes tea"), ok({ count: 1, isNew: true }));
  assert.deepEqual(await toolMemory(parts, row, "c/2/1/x").add("Likes TEA"), ok({ count: 1, isNew: false }));
  clock.move(1);
  const added = await addMemory(localOwner, "has a cat");
  assert.deepEqual(added, ok({ id: "00000006", fact: "has a cat", at: 6, conversation: null }));
  const [oldest] = await memory(localOwner);
  assert.deepEqual([oldest?.fact, oldest?.conversation, oldest?.at], ["likes tea", "c", 5]);
  assert.deepEqual(await toolMemory(parts, row, "k").memories(), ["has a cat", "likes tea"], "newest first");
  clock.move(1);
  const changed = await changeMemory(localOwner, oldest?.id ?? "", "likes\tmilk");
  assert.deepEqual(changed, ok({ id: oldest?.id, fact: "likes milk", at: 5, conversation: null }));
  assert.deepEqual(
    (await memory(localOwner)).map(({ fact }) => fact),
    ["likes milk", "has a cat"],
  );
  assert.deepEqual(await forgetMemory(localOwner, "00000006"), ok(undefined));
  assert.equal((await memory(localOwner)).length, 1);
});

test("a memory that could not be stored or forgotten is told so [Z4][Q2]", async (t) => {
  const wrap = (real: Storage): Storage => ({ ...real, putMemory: async () => full, dropMemory: async () => full });
  const { parts } = await leftOver(t, { wrap });
  const { addMemory, changeMemory, forgetMemory } = openMemory(parts);
  assert.deepEqual([await addMemory(localOwner, "x"), await forgetMemory(localOwner, "1")], [full, full]);
  const unknown = await changeMemory(localOwner, "1", "x");
  assert.equal(unknown.ok || unknown.failure.code, "memory_not_found");
});

test("a rule that cannot be read allows nothing and is named in the log file; one of a conversation counts there alone [H2][O1]", async (t) => {
  const rule: AllowRule = {
    ...{ id: "3fa1b2c4", tool: "pay", scope: "conversation", conversation: "c", at: 1, by: "local" },
    match: { match: "findings", covers: [{ kind: "packages", pattern: "pip install *" }] },
  };
  let isFull = false;
  const wrap = (real: Storage): Storage => ({
    ...real,
    dropRule: async (...given) => (isFull ? full : real.dropRule(...given)),
  });
  const { parts, start, real, warned } = await leftOver(t, { wrap });
  const [row, other] = [await start("c"), await start("d")];
  assert.equal(ruleRow(localOwner, { ...rule, scope: "user" }, row).number, undefined);
  const put = (id: string, at: number, of: object | string, place: number | undefined = row.number) =>
    real.putRule({ owner: localOwner, id, number: place, at, body: typeof of === "string" ? of : JSON.stringify(of) });
  await Promise.all([put("a", 3, "{"), put("b", 2, { ...rule, scope: "all" }), put(rule.id, 1, rule)]);
  const { rules, revokeRule } = openRules(parts);
  assert.deepEqual([await rules(localOwner, row), await rules(localOwner, other)], [[rule], []]);
  const why = "a rule that somebody made cannot be read";
  assert.deepEqual(warned, [
    [why, { rule: "a", owner: localOwner }],
    [why, { rule: "b", owner: localOwner }],
  ]);
  isFull = true;
  assert.deepEqual(await revokeRule(localOwner, rule.id), full);
  isFull = false;
  assert.deepEqual(await revokeRule(localOwner, rule.id), ok(undefined));
  assert.deepEqual(await revokeRule(localOwner, rule.id), failure("rule_not_found", { id: rule.id }));
  await Promise.all(
    Array.from({ length: 501 }, (_, at) => put(`${at}`, 9 + at, { ...rule, scope: "user" }, undefined)),
  );
  assert.equal((await rules(localOwner)).length, 500);
});

test("a selected file is looked for among the parts before the uploads, and is code by its own name, not by its folder's [C2][M2]", async (t) => {
  const lying = async (...paths: readonly string[]) => {
    const { workspace } = await testWorkspace(t);
    for (const path of paths) assert.ok((await workspace.write(path, "a")).ok);
    return workspace;
  };
  const row = conversationRow("c");
  const chosen = async (workspace: Workspace, ...names: readonly string[]) => {
    const answer = await selectFiles(workspace, row, names);
    return answer.ok ? answer.value?.files : answer.failure.code;
  };
  const both = await lying("uploads/temparea/a.csv", "uploads/a.csv", "uploads/b.py/x.txt", "outputs/o.md");
  assert.deepEqual(await chosen(both, "a.csv", "a.csv"), ["/workspace/c/uploads/temparea/a.csv"]);
  assert.deepEqual(await chosen(await lying("uploads/a.csv"), "a.csv"), ["/workspace/c/uploads/a.csv"]);
  assert.deepEqual(await chosen(both, "outputs/o.md"), ["/workspace/c/outputs/o.md"]);
  assert.equal(await chosen(both, "a.csv", "other/b.md"), "selected_file_missing");
  assert.deepEqual(await selectFiles(both, row, undefined), ok(undefined));
  const selection = { root: "", session: "", files: ["/workspace/c/uploads/b.py/x.txt"] };
  assert.equal(hasCode(selection), false);
  assert.equal(hasCode({ ...selection, files: [...selection.files, "/workspace/c/uploads/b.py"] }), true);
});

test("a limit that is set as it is changes nothing in the log, and what cannot be stored is told [A4][Q2]", async (t) => {
  let isFull = false;
  const wrap = (real: Storage): Storage => ({
    ...real,
    append: async (batch) => (isFull ? full : real.append(batch)),
  });
  const { parts, start } = await leftOver(t, { wrap });
  const row = await start("c");
  const { setBudget, budget } = openBudgets(parts);
  const set = async (limits: object) => {
    const answer = await setBudget(row, limits);
    return answer.ok ? [answer.value.set, answer.value.by] : answer.failure.code;
  };
  const head = () => parts.log.headOf(row.number);
  assert.deepEqual([await set({}), await head()], [[{}, "settings"], 0]);
  assert.deepEqual([await set({ tokens: 9 }), await head()], [[{ tokens: 9 }, "person"], 1]);
  assert.deepEqual([await set({ tokens: 9 }), await head()], [[{ tokens: 9 }, "person"], 1]);
  assert.deepEqual([await set({}), await head()], [[{}, "person"], 2]);
  isFull = true;
  assert.deepEqual([await set({ tokens: 8 }), (await budget(row)).set], ["storage_full", {}]);
});

test("a tool that is loaded is stored once by its own name, one that is told of anyway is not, and an unknown one is refused [T1]", async (t) => {
  const { parts, start } = await leftOver(t);
  const row = await start("c");
  const { loadTool, agentTools } = openLoadTool(parts);
  const [onDemand] = parts.toolkit(localOwner).onDemand;
  assert.ok(onDemand !== undefined);
  const loaded = async () => [...(await parts.log.history(row.number)).loadedTools];
  assert.deepEqual([await loadTool(row, onDemand.name), await loaded()], [ok(undefined), [onDemand.name]]);
  const head = await parts.log.headOf(row.number);
  for (const name of [onDemand.name, "read_file"]) assert.deepEqual(await loadTool(row, name), ok(undefined));
  const unknown = await loadTool(row, "no_such_tool");
  assert.deepEqual([unknown.ok, await parts.log.headOf(row.number), await agentTools(row)], [false, head, undefined]);
});
