import { z } from "zod";
import { forModels } from "../../words/words.ts";
import { defineTool } from "../tool.ts";

export const spawnAgent = defineTool({
  name: "spawn_agent",
  description:
    "Start an agent that works beside you with files of its own. Use it for long tasks that do not need each other's files; not for work whose answer you need in this step (delegate_task). Returns its id and name at once; its messages arrive by themselves, its result and files at its end.",
  class: "idempotent",
  isOnDemand: true,
  input: z.object({
    role: z.string().trim().min(1).max(200).describe("What it is, in a few words, or the id of an agent."),
    task: z.string().trim().min(1).max(40_000).describe("Goal, known facts, limits, what to give back."),
    name: z.string().trim().min(1).max(40).optional().describe("What to call it. Left out: its role."),
    done_when: z.string().trim().min(1).max(2_000).optional().describe("How one sees that it is done."),
    files: z.array(z.string()).max(100).optional().describe("Paths of files or folders to copy to it."),
  }),
  otherNames: { brief: "task", prompt: "task", description: "task" },
  run: ({ role, task, name, done_when: doneWhen, files = [] }, { agents }) =>
    agents.spawn({ role, name, files, brief: forModels.agents.brief({ task, doneWhen, files }) }),
});
