import { z } from "zod";
import { defineTool } from "../tool.ts";

/** Of a worker that nobody gave another number. */
export const loopsDefault = 50;
export const loopsMax = 200;

export const delegateTask = defineTool({
  name: "delegate_task",
  description:
    "Give a piece of work to a worker with a window of its own and the same files. Use it for much reading or many steps, or several pieces at once (several calls in one answer); not for what one or two calls do. The worker sees only this text: say the goal, known facts and paths, whether it may write, what to return, how to check. Returns {ok, result, context_id, loops} when it is done.",
  class: "idempotent",
  input: z.object({
    task: z.string().trim().min(1).max(40_000).describe("All that the worker needs to know."),
    max_loops: z.number().int().min(1).max(loopsMax).optional().describe("Steps that it may take. Left out: 50."),
  }),
  otherNames: { prompt: "task", description: "task", instructions: "task", loops: "max_loops", max_steps: "max_loops" },
  run: ({ task, max_loops: loops = loopsDefault }, { agents }) => agents.delegate({ task, loops }),
});
