import assert from "node:assert/strict";
import { test } from "node:test";
import { toolContext } from "../../../test/world/tools.ts";
import type { Todo } from "../../protocol/todo.ts";
import { todoRead } from "./todo-read.ts";

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
