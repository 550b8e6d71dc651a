import { z } from "zod";
import { defineTool } from "../tool.ts";

export const terminateAgent = defineTool({
  name: "terminate_agent",
  description:
    "End an agent that you started, with everything that works for it; its files so far are kept. Use it when its work is no longer needed; not for one that ends by itself. Returns at once.",
  class: "idempotent",
  isOnDemand: true,
  input: z.object({
    agent_id: z.string().trim().min(1).max(120).describe("Its id or name."),
    reason: z.string().trim().max(2_000).optional().describe("Why, for the record."),
  }),
  otherNames: { agent: "agent_id", id: "agent_id", name: "agent_id", agentId: "agent_id" },
  run: ({ agent_id: agent }, { agents }) => agents.terminate({ agent }),
});
