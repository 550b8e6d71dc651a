import { z } from "zod";
import { derivedHex } from "../../base/ids.ts";
import { ok } from "../../base/result.ts";
import { Todo } from "../../protocol/todo.ts";
import { forModels } from "../../words/words.ts";
import { defineTool } from "../tool.ts";

const { status, priority } = Todo.shape;

const Item = z.object({
  content: z.string().trim().min(1).max(2_000).describe("What is to be done, in a few words."),
  status: status.describe("Where it stands."),
  priority: priority.optional().describe("Left out: medium."),
});
type Item = z.infer<typeof Item>;

export const todoWrite = defineTool({
  name: "todo_write",
  description:
    'Keep a list of the steps of a long task, visible to the user. Use it for three or more real steps; not for questions or short tasks. Send the whole list each time, one item in_progress, together with the next work call. Returns the counts and what is open. At most 200 items. Example item: {"content": "read the report", "status": "pending"}.',
  class: "idempotent",
  input: z.object({ todos: z.array(Item).max(200).describe("The whole list, in order.") }),
  otherNames: {
    ...{ todo: "todos", items: "todos", list: "todos", tasks: "todos", todo_list: "todos" },
    ...{ text: "content", title: "content", task: "content", description: "content" },
    ...{ state: "status" },
  },
  otherWords: {
    ...{ todo: "pending", open: "pending", not_started: "pending" },
    ...{ 待办: "pending", 待处理: "pending", 待完成: "pending", 未开始: "pending", 未完成: "pending" },
    ...{ doing: "in_progress", active: "in_progress", started: "in_progress" },
    ...{ 进行中: "in_progress", 正在进行: "in_progress", 处理中: "in_progress" },
    ...{ done: "completed", complete: "completed", finished: "completed", 完成: "completed", 已完成: "completed" },
    ...{ normal: "medium", 低: "low", 中: "medium", 高: "high" },
  },
  run({ todos: items }, { todos: before, key }) {
    const active = items.findIndex((item) => item.status === "in_progress");
    const isOneTooMany = (item: Item, index: number) => item.status === "in_progress" && index !== active;
    const kept = [...before];
    const todos: Todo[] = items.map((item, index) => ({
      id: takeId(kept, item) ?? derivedHex(8, key, String(index)),
      content: item.content,
      status: isOneTooMany(item, index) ? "pending" : item.status,
      priority: item.priority ?? "medium",
    }));
    const note = items.some(isOneTooMany) ? `\n${forModels.oneActiveTodo}` : "";
    return ok({ text: forModels.todosUpdated(todos) + note, events: [{ type: "todo.set", todos }] });
  },
});

/** The id this item had before, by its content; each is given once. */
function takeId(before: Todo[], { content }: Item): string | undefined {
  const index = before.findIndex((todo) => todo.content === content);
  return index < 0 ? undefined : before.splice(index, 1)[0]?.id;
}
