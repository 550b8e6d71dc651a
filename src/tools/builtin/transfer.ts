import { z } from "zod";
import type { AgentRole } from "../../protocol/agent.ts";
import { forModels } from "../../words/words.ts";
import type { ToolSource } from "../foreign.ts";
import { defineTool, type Tool } from "../tool.ts";
import { callAgentTool } from "./call-agent.ts";

/** Of more agents than these a model is not told with every request. */
const toldMax = 8;
const nameCharactersMax = 64;

/** The name of the tool that hands over to this agent: ids may have characters that no tool may have. */
export function transferName({ id }: Pick<AgentRole, "id">): string {
  return `transfer_to_${id.replaceAll(/[^A-Za-z0-9_-]/g, "_")}`.slice(0, nameCharactersMax);
}

/** `transfer_to_{id}` for each agent there is, in the order of the settings, and `call_agent`; the same as long as these are. */
export function openTransfers(agents: () => readonly AgentRole[]): ToolSource {
  let known: readonly AgentRole[] | undefined;
  let made: readonly Tool[] = [];
  return {
    tools() {
      const now = agents();
      if (now !== known) made = toolsFor(now);
      known = now;
      return made;
    },
  };
}

function toolsFor(agents: readonly AgentRole[]): Tool[] {
  const call = callAgentTool(agents);
  const transfers = agents.map((agent, place) => transferTool(agent, { isTold: place < toldMax }));
  return call === undefined ? transfers : [...transfers, call];
}

function transferTool(agent: AgentRole, { isTold }: { isTold: boolean }): Tool {
  return defineTool({
    name: transferName(agent),
    description: forModels.handOff.tool(agent),
    class: "pure",
    isOnDemand: !isTold,
    input: z.object({ task: z.string().min(1).describe(forModels.handOff.task) }),
    otherNames: { message: "task", prompt: "task", request: "task" },
    // One after the other: who is handed over to first has the user.
    order: () => "transfer",
    run: ({ task }, { handOver }) => handOver(agent.id, task),
  });
}
