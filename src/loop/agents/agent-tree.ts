import { ok, type Result } from "../../base/result.ts";
import type { History, Tree } from "../../log/log.ts";
import type { AgentInfo } from "../../protocol/agent-routes.ts";
import type { EventOf, LogEvent } from "../../protocol/events.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import { shownId } from "../../protocol/ids.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { roleOf } from "../agents.ts";
import { appendSeen, soon } from "../append-seen.ts";
import type { Driver } from "../driver.ts";
import type { Engine } from "../loop.ts";
import type { Parts } from "../parts.ts";
import { standingOf } from "../spending.ts";
import { nextOf } from "../turn.ts";

/** What people see of the agents of a conversation, and how they stop one. */
export function openAgentTree(parts: Parts, driver: Driver): Pick<Engine, "agentTree" | "stopAgent"> {
  return {
    agentTree: (conversation) => describeTree(parts, conversation),

    async stopAgent(conversation, name) {
      let stopped = name;
      const stored = await appendSeen(parts, conversation.number, (_, tree) => {
        const found = find(tree, name);
        if (!found.ok) return found;
        stopped = found.value;
        return ok({ events: [{ type: "cancel.asked", agent: stopped, turn: 1 }], with: soon });
      });
      if (!stored.ok) return stored;
      driver.wake(conversation);
      return ok({ agent: stopped });
    },
  };
}

/** By id, by the name that it goes by, or by what its result is told under. */
function find({ agents }: Tree, name: string): Result<string, Failure> {
  const named = [...agents.values()].filter(
    ({ self }) => self?.id === name || self?.name === name || self?.context === name,
  );
  const living = named.find(({ isOver }) => !isOver);
  if (living?.self !== undefined) return ok(living.self.id);
  return failure(named.length > 0 ? "agent_ended" : "agent_unknown", { name: shownId(name) });
}

async function describeTree(parts: Parts, conversation: ConversationRow): Promise<AgentInfo[]> {
  const { number } = conversation;
  const tree = await parts.log.tree(number);
  const events = await parts.log.effective(number, tree.root.head);
  const spent = spentBy(events);
  const begun = new Map(events.flatMap((event) => (event.type === "agent.spawned" ? [[event.id, event]] : [])));
  const ends = new Map(events.flatMap((event) => (event.type === "agent.ended" ? [[event.id, event]] : [])));
  const main: AgentInfo = {
    ...{ id: "root", name: "root", parent: null, mode: "main", role: roleOf(tree.root, parts).id, brief: "" },
    state: stateOf(parts, conversation, tree.root, undefined),
    ...(spent.get("root") ?? nothing),
    ...{ workspace: null, context: null, result: null, folder: null },
    ...{ madeAt: conversation.createdAt, seq: 0, endedAt: null, budget: standingOf(tree.root, parts).whole },
  };
  const others = [...tree.agents].flatMap(([id, history]): AgentInfo[] => {
    const { self } = history;
    if (self === undefined || self.mode === "handoff") return [];
    const ended = ends.get(id);
    const { name, parent, mode, role, brief, context = null } = self;
    return [
      {
        ...{ id, name, parent, mode, role, brief, context },
        state: stateOf(parts, conversation, history, ended),
        ...(spent.get(id) ?? nothing),
        workspace: workspaceOf(tree, id),
        ...{ result: ended?.result ?? null, folder: ended?.folder ?? null },
        ...{ madeAt: begun.get(id)?.at ?? 0, seq: begun.get(id)?.seq ?? 0, endedAt: ended?.at ?? null },
        budget: standingOf(history, parts).whole,
      },
    ];
  });
  return [main, ...others];
}

type Spent = Pick<AgentInfo, "steps" | "tokens">;
const nothing: Spent = { steps: 0, tokens: { input: 0, output: 0 } };

function spentBy(events: readonly LogEvent[]): Map<string, Spent> {
  const spent = new Map<string, Spent>();
  for (const event of events) {
    if (event.type !== "message.assistant" && event.type !== "compacted") continue;
    const { agent: id = "root", usage } = event;
    if (usage === undefined) continue;
    const { steps, tokens } = spent.get(id) ?? nothing;
    spent.set(id, {
      steps: steps + (event.type === "message.assistant" ? 1 : 0),
      tokens: { input: tokens.input + usage.input, output: tokens.output + usage.output },
    });
  }
  return spent;
}

function stateOf(
  parts: Parts,
  { owner }: ConversationRow,
  history: History,
  ended: EventOf<"agent.ended"> | undefined,
): AgentInfo["state"] {
  if (ended !== undefined) return ended.outcome;
  const next = nextOf(history, parts, owner);
  if (next === "rest") return "idle";
  if (next !== "wait") return "working";
  const isAsking = [...history.decisions.values()].some(({ made }) => made === undefined);
  return isAsking ? "waiting_person" : "waiting_agents";
}

/** The first above it that the main agent made as a task. */
function workspaceOf({ agents }: Tree, id: string): string | null {
  const [, top = ""] = agents.get(id)?.self?.path ?? [];
  return agents.get(top)?.self?.mode === "task" ? top : null;
}
