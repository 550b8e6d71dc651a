import { z } from "zod";
import { ok } from "../../base/result.ts";
import { forModels } from "../../words/words.ts";
import { defineTool } from "../tool.ts";

export const askHuman = defineTool({
  name: "ask_human",
  description:
    "Ask the user one question and wait for the answer. Use it only when the answer changes what you do and nothing you can look at tells it; name the choices in the question. Not for reports or for permission: calls that need permission ask for it themselves. Returns the answer, or a note that there was none.",
  class: "pure",
  isBasic: true,
  input: z.object({
    question: z.string().trim().min(1).describe("One clear question, in the user's language."),
    context: z.string().optional().describe("What the user should know to answer."),
    default: z.string().optional().describe("Taken when the user answers nothing."),
    required: z.boolean().optional().describe("True: an empty answer without default is asked again."),
  }),
  otherNames: { message: "question", prompt: "question", text: "question", default_value: "default" },
  ask: (question) => ({ kind: "question", ...question }),
  run({ default: fallback }, { decision }) {
    const answer = decision?.answer?.trim() ?? "";
    if (answer !== "") return ok({ text: answer });
    return ok({ text: fallback === undefined ? forModels.noAnswer : forModels.defaultAnswer(fallback) });
  },
});
