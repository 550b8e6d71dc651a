import { z } from "zod";
import { Purse } from "./budget.ts";
import { Slot } from "./message.ts";
import { ById, Empty, type Route } from "./route.ts";

const Agent = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  /** Names of its tools; null: all there are. */
  tools: z.array(z.string()).nullable(),
  slot: Slot.nullable(),
});

/** One agent of a conversation: the main one, or one that another made. */
const AgentInfo = z.object({
  id: z.string(),
  name: z.string(),
  /** Whom it works for; null for the main agent. */
  parent: z.string().nullable(),
  mode: z.enum(["main", "task", "worker"]),
  role: z.string(),
  /** What it was made for. */
  brief: z.string(),
  /** `waiting_agents`: for agents that it made, or for a message. The last four: how it ended. */
  state: z.enum(["idle", "working", "waiting_person", "waiting_agents", "done", "failed", "terminated", "limit"]),
  /** Model calls, and what they used, of the main agent in all its turns. */
  steps: z.number().int(),
  tokens: z.object({ input: z.number(), output: z.number() }),
  /** The agent whose files it works with; null: those of the conversation. */
  workspace: z.string().nullable(),
  /** The id under which the result of a worker is told. */
  context: z.string().nullable(),
  /** What it said at its end, and where its files were put. */
  result: z.string().nullable(),
  folder: z.string().nullable(),
  /** When it was made, and where in the log that stands; of the main agent the beginning of both. */
  madeAt: z.number(),
  seq: z.number().int(),
  endedAt: z.number().nullable(),
  /** What it may spend with all that it makes, what it has, and what is left. */
  budget: Purse,
});
export type AgentInfo = z.infer<typeof AgentInfo>;

/** The agents there are, and those that work in a conversation. */
export const agentRoutes = {
  listAgents: {
    method: "GET",
    path: "/api/v1/agents",
    scope: "any",
    summary: "The agents there are, the main one first; a chat names one by its id.",
    params: Empty,
    query: Empty,
    body: Empty,
    status: 200,
    failures: [],
    answer: z.object({ items: z.array(Agent) }),
  },
  listConversationAgents: {
    method: "GET",
    path: "/api/v1/conversations/{id}/agents",
    scope: "chat",
    summary: "Who works in a conversation, and for whom: the main agent first, the others in the order they were made.",
    params: ById,
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["conversation_not_found"],
    answer: z.object({ items: z.array(AgentInfo) }),
  },
  stopAgent: {
    method: "POST",
    path: "/api/v1/conversations/{id}/agents/{agent}/stop",
    scope: "chat",
    summary: "End one agent by id or name, with all that work for it; the others go on.",
    params: ById.extend({ agent: z.string() }),
    query: Empty,
    body: Empty,
    status: 202,
    failures: ["conversation_not_found", "agent_unknown", "agent_ended"],
    answer: z.object({ agent: z.string() }),
  },
} as const satisfies Record<string, Route>;
