import { z } from "zod";
import { defineTool } from "../tool.ts";

export const sendMessage = defineTool({
  name: "send_message",
  description:
    "Write to another agent: one you started, your parent, or one of your task. Use it for one matter, in short; not for the user, whom you answer with text. Returns when it is delivered; an answer arrives later by itself.",
  class: "idempotent",
  isOnDemand: true,
  input: z.object({
    to: z.string().trim().min(1).max(120).describe('The name or id of the agent, or "parent".'),
    text: z.string().trim().min(1).max(40_000).describe("What you have to say."),
    wait_for_answer: z.boolean().optional().describe("True: do not end before it has answered."),
  }),
  otherNames: { message: "text", content: "text", payload: "text", recipient: "to", agent: "to", agent_id: "to" },
  // One after the other, so that the reader has them in this order.
  order: ({ to }) => `mail ${to}`,
  run: ({ to, text, wait_for_answer: awaits = false }, { agents }) => agents.send({ to, text, awaits }),
});
