import { z } from "zod";
import type { AgentRole } from "../../protocol/agent.ts";
import { forModels } from "../../words/words.ts";
import { defineTool, type Tool } from "../tool.ts";
import { loopsDefault, loopsMax } from "./delegate-task.ts";

/** `call_agent` for the agents that there are; undefined where there is none. */
export function callAgentTool(agents: readonly AgentRole[]): Tool | undefined {
  const [first, ...others] = agents.map(({ id }) => id);
  if (first === undefined) return undefined;
  return defineTool({
    name: "call_agent",
    description:
      "Have a named agent do a piece of work, with its own words and tools and the same files; you go on with its answer. Use it when the work is plainly that agent's; not to hand the user over (transfer_to_...), and not for what you can do yourself. It sees only this text: say the goal, known facts and paths, whether it may write, what to return. Returns {ok, result, context_id, loops} when it is done.",
    class: "idempotent",
    isOnDemand: true,
    input: z.object({
      agent_id: z.enum([first, ...others]).describe("Which agent."),
      task: z.string().trim().min(1).max(40_000).describe(forModels.agents.briefed),
      max_loops: z.number().int().min(1).max(loopsMax).optional().describe("Steps that it may take. Left out: 50."),
    }),
    otherNames: {
      agent: "agent_id",
      agent_name: "agent_id",
      id: "agent_id",
      prompt: "task",
      description: "task",
      loops: "max_loops",
    },
    run: ({ agent_id: role, task, max_loops: loops = loopsDefault }, { agents: made }) =>
      made.delegate({ task, loops, role }),
  });
}
