import assert from "node:assert/strict";
import { test } from "node:test";
import { toolContext } from "../../../test/world/tools.ts";
import { systemClock } from "../../base/clock.ts";
import { ok } from "../../base/result.ts";
import { Todo } from "../../protocol/todo.ts";
import type { ToolContext } from "../tool.ts";
import { builtins, openToolkit } from "../tools.ts";
import { compactContext } from "./compact-context.ts";
import { todoRead } from "./todo-read.ts";

const toolkit = openToolkit(builtins);

test("the list is stored with ids of 8 hex digits and medium priority, and the reply counts what is open and done [T5]", async () => {
  const { text, todos } = await write([
    { content: "read", status: "completed" },
    { content: "think", status: "in_progress", priority: "high" },
    { content: "write", status: "pending" },
  ]);
  assert.deepEqual(
    todos.map(({ content, status, priority }) => `${content} ${status} ${priority}`),
    ["read completed medium", "think in_progress high", "write pending medium"],
  );
  assert.ok(todos.every((todo) => Todo.safeParse(todo).success));
  assert.equal(
    text,
    "✅ TODO 列表已更新: 2 个待完成, 1 个已完成 (list updated: 2 open, 1 done)\n- [in_progress] think (high)\n- [pending] write",
  );
});

test("an item keeps its id as long as its words stay the same, wherever it moves; two equal items have two ids [T5]", async () => {
  const first = await write([pending("a"), pending("b"), pending("a")], { key: "1" });
  const second = await write([pending("new"), pending("b"), pending("a"), pending(" a ")], {
    key: "2",
    before: first.todos,
  });
  const [a, b, otherA] = first.todos.map((todo) => todo.id);
  assert.deepEqual([second.todos.slice(1).map((todo) => todo.id)], [[b, a, otherA]]);
  assert.equal(new Set(second.todos.map((todo) => todo.id)).size, 4);
});

test("only one item is in progress: the first stays, the others wait, and the reply says so [T5]", async () => {
  const { text, todos } = await write(["a", "b", "c"].map((content) => ({ content, status: "in_progress" })));
  assert.deepEqual([todos.map((todo) => todo.status)], [["in_progress", "pending", "pending"]]);
  assert.match(text, /\nOnly one item can be in_progress: the first one stays so, the others are pending\.$/);
});

const words: readonly (readonly [status: string, ...written: string[]])[] = [
  ["pending", "Pending", "todo", "TODO", "open", "not started", "待办", "待处理", "待完成", "未开始", "未完成"],
  ["in_progress", "In Progress", "in-progress", "inProgress", "doing", "active", "进行中", "处理中"],
  ["completed", "done", "Done", "complete", "finished", "完成", "已完成"],
];

test("states and priorities are understood in the words that models use, Chinese ones included [T5][R1]", async () => {
  for (const [status, ...others] of words)
    for (const written of [status, ...others])
      assert.equal((await write([{ content: "a", status: written }])).todos[0]?.status, status, written);
  const priorities = { 低: "low", 中: "medium", 高: "high", High: "high", normal: "medium" };
  for (const [written, priority] of Object.entries(priorities))
    assert.equal((await write([{ ...pending("a"), priority: written }])).todos[0]?.priority, priority, written);
});

type Options = { readonly key?: string; readonly before?: readonly Todo[] };

function write(todos: readonly object[], options?: Options) {
  return run(JSON.stringify({ todos }), options);
}

async function run(written: string, { key = "key", before = [] }: Options = {}) {
  const found = toolkit.open({ id: "1", name: "todo_write", arguments: written });
  assert.ok(found.ok, written);
  const output = await found.value.opened.run(toolContext({ key, todos: before }));
  assert.ok(output.ok);
  const [event, ...others] = output.value.events ?? [];
  assert.ok(event?.type === "todo.set" && others.length === 0);
  return { text: output.value.text, todos: event.todos };
}

function pending(content: string) {
  return { content, status: "pending" };
}

test("the whole list is shown, a line per item; an empty one says how to make one [T5]", async () => {
  const todos: Todo[] = [
    { id: "00000001", content: "read", status: "completed", priority: "medium" },
    { id: "00000002", content: "写报告", status: "in_progress", priority: "high" },
  ];
  assert.equal(await show(todos), "- [completed] read\n- [in_progress] 写报告 (high)");
  assert.equal(await show([]), "The list is empty. Make one with todo_write.");
});

async function show(todos: readonly Todo[]): Promise<string> {
  const opened = todoRead.open({});
  assert.ok(opened.ok);
  const output = await opened.value.run(toolContext({ todos }));
  return output.ok ? output.value.text : "";
}

const clock = { ...systemClock, now: () => Date.UTC(2026, 2, 1, 9, 5, 0, 123) };

const asked: readonly [input: object, text: string][] = [
  [{}, "2026-03-01 09:05:00 Sunday (UTC)\n2026-03-01T09:05:00Z (UTC)"],
  [{ timezone: "Asia/Tokyo" }, "2026-03-01 18:05:00 Sunday (Asia/Tokyo)\n2026-03-01T09:05:00Z (UTC)"],
  [{ tz: "Pacific/Auckland" }, "2026-03-01 22:05:00 Sunday (Pacific/Auckland)\n2026-03-01T09:05:00Z (UTC)"],
  [{ timeZone: "America/Anchorage" }, "2026-03-01 00:05:00 Sunday (America/Anchorage)\n2026-03-01T09:05:00Z (UTC)"],
  [{ timezone: "" }, "2026-03-01 09:05:00 Sunday (UTC)\n2026-03-01T09:05:00Z (UTC)"],
];

test("the time is told with its weekday and in UTC [R1]", async () => {
  for (const [input, text] of asked) assert.deepEqual(await tell(input), { ok: true, value: { text } });
});

async function tell(input: object) {
  const found = toolkit.open({ id: "1", name: "now", arguments: JSON.stringify(input) });
  assert.ok(found.ok);
  return found.value.opened.run(toolContext({ clock }));
}

test("a question goes to the user with all that was said about it [H3]", () => {
  const input = { question: " Which file? ", context: "There are two.", default: "a.csv", required: "true" };
  assert.deepEqual(open(input).ask, {
    kind: "question",
    question: "Which file?",
    context: "There are two.",
    default: "a.csv",
    required: true,
  });
  assert.deepEqual(open({ message: "Which?", default: "" }).ask, { kind: "question", question: "Which?" });
});

const answers: readonly [input: object, answer: string, text: string][] = [
  [{ question: "Which?" }, " that one ", "that one"],
  [{ question: "Which?", default: "a.csv" }, "b.csv", "b.csv"],
  [{ question: "Which?", default: "a.csv" }, "  ", "a.csv\n(no answer, default used)"],
  [{ question: "Which?" }, "", "(the user gave no answer; go on with a stated assumption)"],
];

test("the model reads the answer, or what counts in its place [H3]", async () => {
  for (const [input, answer, text] of answers)
    assert.deepEqual(await open(input).run(contextWith(answer)), { ok: true, value: { text } });
});

function open(input: object) {
  const found = toolkit.open({ id: "1", name: "ask_human", arguments: JSON.stringify(input) });
  assert.ok(found.ok);
  return found.value.opened;
}

function contextWith(answer: string) {
  const made = { type: "decision.made", seq: 1, at: 0, id: "1", verdict: "answer", by: "me", answer } as const;
  return toolContext({ decision: { ...made, argumentsHash: "", previous: "" } });
}

const report = { strategy: "compact", messagesBefore: 40, messagesAfter: 11, tokensBefore: 9_000, tokensAfter: 3_000 };
const event = { type: "compacted", turn: 1, upTo: 3, summary: "…", ...report } as const;

test("what was made room for is told in numbers, and the event goes with it [Z2]", async () => {
  const asked: string[] = [];
  const { text, events } = await compact({ strategy: "summarize" }, async (strategy) => {
    asked.push(strategy);
    return ok({ report, event });
  });
  assert.equal(
    text,
    "Room was made (compact): 40 messages, about 9000 tokens before; 11 messages, about 3000 tokens now (33 %). Go on with the work.",
  );
  assert.deepEqual([events, asked], [[event], ["summarize"]]);
});

async function compact(input: object, made: ToolContext["compact"]) {
  const opened = compactContext.open({ ...input });
  assert.ok(opened.ok);
  const output = await opened.value.run(toolContext({ compact: made }));
  assert.ok(output.ok);
  return { text: output.value.text, events: output.value.events ?? [] };
}
