import { Icon } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";
import type { ConversationView } from "./conversation.ts";

const glyphs = { completed: "check", in_progress: "right", pending: "clock" } as const;

/** The agent's own list: one line with what it is at, which opens. */
export function TodoList({ todos }: { readonly todos: ConversationView["todos"] }) {
  const words = useWords().chat;
  if (todos.length === 0 || todos.every(({ status }) => status === "completed")) return null;
  const done = todos.filter(({ status }) => status === "completed").length;
  const current =
    todos.find(({ status }) => status === "in_progress") ?? todos.find(({ status }) => status === "pending");
  return (
    <details className="todos">
      <summary className="call-line">
        <Icon name="tasks" size={16} />
        <span className="call-name">{words.todos({ done, all: todos.length })}</span>
        <span className="call-object">{current?.content}</span>
        <Icon name="right" size={16} />
      </summary>
      <ul>
        {todos.map(({ id, content, status }) => (
          <li key={id} data-status={status}>
            <Icon name={glyphs[status]} size={16} />
            <span className="unseen">{words.todoStates[status]}: </span>
            {content}
          </li>
        ))}
      </ul>
    </details>
  );
}
