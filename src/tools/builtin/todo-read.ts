import { z } from "zod";
import { ok } from "../../base/result.ts";
import { forModels } from "../../words/words.ts";
import { defineTool } from "../tool.ts";

export const todoRead = defineTool({
  name: "todo_read",
  description:
    "Show the whole list kept with todo_write, completed items too. Use it when you have lost track of the list; not routinely, since reminders repeat what is open. Returns one line per item.",
  class: "pure",
  isOnDemand: true,
  input: z.object({}),
  run: (_, { todos }) => ok({ text: forModels.todoList(todos) }),
});
