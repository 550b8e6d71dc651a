import type { AgentInfo } from "../../../src/protocol/agent-routes.ts";
import type { LogEvent } from "../../../src/protocol/events.ts";
import type { ConversationState } from "../../../src/protocol/resources.ts";
import { Todo } from "../../../src/protocol/todo.ts";

/**
 * What is still open and began before the part of the log that was read, as events that stand before all others: the
 * fold then need not know that there is more.
 */
export function preludeOf(
  state: ConversationState,
  events: readonly LogEvent[],
  agents: readonly AgentInfo[],
): LogEvent[] {
  const { status, queue, decisions, todos, conversation } = state;
  const place = { seq: 0, at: events[0]?.at ?? conversation.updatedAt };
  const turn = turnIn(events);
  const isBegun = events.some((event) => event.type === "turn.started" && event.agent === undefined);
  const known = new Set(events.flatMap((event) => (event.type === "message.user" ? [event.id] : [])));
  const asked = new Set(events.flatMap((event) => (event.type === "decision.asked" ? [event.id] : [])));
  return [
    ...(status !== "idle" && !isBegun
      ? [{ type: "turn.started", ...place, turn, message: "", epoch: 0 } as const]
      : []),
    ...agents.flatMap((agent) => (agent.mode === "main" ? [] : [{ ...place, ...spawnedOf(agent, agent.mode) }])),
    ...queue
      .filter(({ id }) => !known.has(id))
      .map(({ id, text, mode }) => ({ type: "message.user", ...place, id, text, mode }) as const),
    ...decisions
      .filter(({ id }) => !asked.has(id))
      .map(
        ({ conversation: _, path, at, ...asked }) =>
          ({
            ...{ ...place, ...asked, at, turn, call: "" },
            ...{ type: "decision.asked" as const },
            ...(path.length > 1 && { agent: path.at(-1), path }),
          }) as const,
      ),
    ...(events.some((event) => event.type === "todo.set")
      ? []
      : [{ type: "todo.set", ...place, todos: todos.flatMap((todo) => Todo.safeParse(todo).data ?? []) } as const]),
  ];
}

function spawnedOf({ id, parent, role, name, brief }: AgentInfo, mode: "task" | "worker") {
  const agent = parent === null || parent === "root" ? undefined : parent;
  return { type: "agent.spawned", agent, id, mode, role, name, brief } as const;
}

function turnIn(events: readonly LogEvent[]): number {
  const event = events.findLast((one) => "turn" in one && !("agent" in one && one.agent !== undefined));
  return event !== undefined && "turn" in event ? event.turn : 0;
}
