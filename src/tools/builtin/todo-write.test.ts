import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { toolContext } from "../../../test/world/tools.ts";
import { Todo } from "../../protocol/todo.ts";
import { builtins, openToolkit } from "../tools.ts";

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

test("an empty list and a finished one are told in one line [T5]", async () => {
  assert.match((await write([])).text, /^✅ TODO 列表已更新: 0 个待完成, 0 个已完成 [^\n]*$/);
  const done = await write([{ content: "a", status: "completed" }]);
  assert.match(done.text, /^✅ TODO 列表已更新: 0 个待完成, 1 个已完成 [^\n]*$/);
});

test("an item keeps its id as long as its words stay the same, wherever it moves; two equal items have two ids [T5]", async () => {
  const first = await write([pending("a"), pending("b"), pending("a")], { key: "1" });
  const second = await write([pending("new"), pending("b"), pending("a"), pending(" a ")], {
    key: "2",
    before: first.todos,
  });
  const [a, b, otherA] = first.todos.map((todo) => todo.id);
  assert.deepEqual(
    second.todos.slice(1).map((todo) => todo.id),
    [b, a, otherA],
  );
  assert.equal(new Set(second.todos.map((todo) => todo.id)).size, 4);
});

test("the same call run again after a crash makes the same list [T5][L2]", async () => {
  const list = [pending("a"), pending("b")];
  assert.deepEqual(await write(list, { key: "same" }), await write(list, { key: "same" }));
});

test("only one item is in progress: the first stays, the others wait, and the reply says so [T5]", async () => {
  const { text, todos } = await write(["a", "b", "c"].map((content) => ({ content, status: "in_progress" })));
  assert.deepEqual(
    todos.map((todo) => todo.status),
    ["in_progress", "pending", "pending"],
  );
  assert.match(text, /\nOnly one item can be in_progress: the first one stays so, the others are pending\.$/);
});

const words: readonly [written: string, status: string][] = [
  ...["pending", "Pending", "todo", "TODO", "open", "not started", "待办", "待处理", "待完成", "未开始", "未完成"].map(
    (word): [string, string] => [word, "pending"],
  ),
  ...["in_progress", "In Progress", "in-progress", "inProgress", "doing", "active", "进行中", "处理中"].map(
    (word): [string, string] => [word, "in_progress"],
  ),
  ...["completed", "done", "Done", "complete", "finished", "完成", "已完成"].map((word): [string, string] => [
    word,
    "completed",
  ]),
];

test("states and priorities are understood in the words that models use, Chinese ones included [T5][R1]", async () => {
  for (const [written, status] of words)
    assert.equal((await write([{ content: "a", status: written }])).todos[0]?.status, status, written);
  for (const [written, priority] of Object.entries({
    低: "low",
    中: "medium",
    高: "high",
    High: "high",
    normal: "medium",
  }))
    assert.equal((await write([{ ...pending("a"), priority: written }])).todos[0]?.priority, priority, written);
});

test("the list is understood under other names, in a string and as a single item [T5][R1]", async () => {
  const item = { title: "a", state: "done" };
  for (const input of [{ items: [item] }, { todo: [item] }, { todos: JSON.stringify([item]) }, { todos: item }])
    assert.deepEqual(
      (await run(JSON.stringify(input))).todos.map(({ content, status }) => ({ content, status })),
      [{ content: "a", status: "completed" }],
    );
});

test("any list keeps its order and words, with at most one item in progress and no id twice [T5]", async () => {
  const item = fc.record({
    content: fc.constantFrom("a", "b", "c", "读", "d"),
    status: fc.constantFrom("pending", "in_progress", "completed"),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(item, { maxLength: 12 }), fc.array(item, { maxLength: 12 }), async (before, after) => {
      const { todos: known } = await write(before, { key: "1" });
      const { todos } = await write(after, { key: "2", before: known });
      assert.deepEqual(
        todos.map((todo) => todo.content),
        after.map((todo) => todo.content),
      );
      assert.ok(todos.filter((todo) => todo.status === "in_progress").length <= 1);
      assert.equal(new Set(todos.map((todo) => todo.id)).size, todos.length);
    }),
  );
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
