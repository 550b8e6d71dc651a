import { z } from "zod";
import { Slot } from "./message.ts";
import { Empty, type Route } from "./route.ts";

const Agent = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  /** Names of its tools; null: all there are. */
  tools: z.array(z.string()).nullable(),
  slot: Slot.nullable(),
});

/** The agents there are. */
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
} as const satisfies Record<string, Route>;
