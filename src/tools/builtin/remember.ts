import { z } from "zod";
import { ok } from "../../base/result.ts";
import { contextLimits } from "../../protocol/context-routes.ts";
import { forModels } from "../../words/words.ts";
import { defineTool } from "../tool.ts";

export const remember = defineTool({
  name: "remember",
  description:
    "Remember a sentence for all later conversations with this user. Use it when the user asks for it, or corrects you or states a wish that will hold later. Not for passwords and keys, nor for what only this task needs: use todo_write or a file. Returns how many memories there are.",
  class: "idempotent",
  input: z.object({
    fact: z
      .string()
      .trim()
      .min(1)
      .max(contextLimits.memoryCharactersMax)
      .describe("One sentence that can be understood alone, at most 500 characters."),
  }),
  otherNames: { text: "fact", content: "fact", memory: "fact", note: "fact", value: "fact" },
  // Two at once would not see each other.
  order: () => "remember",
  async run({ fact }, { memory }) {
    const added = await memory.add(fact);
    if (!added.ok) return added;
    const { count, isNew } = added.value;
    return ok({ text: isNew ? forModels.memory.remembered(count) : forModels.memory.knownAlready(count) });
  },
});
