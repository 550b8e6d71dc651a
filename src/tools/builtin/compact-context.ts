import { z } from "zod";
import { ok } from "../../base/result.ts";
import { forModels } from "../../words/words.ts";
import { defineTool } from "../tool.ts";

export const compactContext = defineTool({
  name: "compact_context",
  description:
    "Make room in the context window: older messages are replaced by a summary; the newest ones, the user's instructions, the list and the names of files stay. Use it when a reminder says that the window fills up and a part of the work is done. Not for short conversations. Returns messages and tokens before and after.",
  class: "idempotent",
  input: z.object({
    strategy: z
      .enum(["auto", "compact", "summarize"])
      .optional()
      .describe("compact: a summary in seven parts; summarize: under 200 words. Left out: auto."),
  }),
  timeoutMs: 600_000,
  order: () => "compact_context",
  async run({ strategy = "auto" }, { compact }) {
    const made = await compact(strategy);
    if (!made.ok) return made;
    const { report, event } = made.value;
    const { messagesBefore: messages, tokensBefore: tokens } = report;
    const events = event === undefined ? [] : [event];
    if (event?.type !== "compacted") {
      const { nothingToDo, noSummary } = forModels.compact;
      return ok({ text: report.strategy === "fallback" ? noSummary : nothingToDo(messages), events });
    }
    const after = { messages: report.messagesAfter, tokens: report.tokensAfter };
    const text = forModels.compact.report({ before: { messages, tokens }, after, strategy: report.strategy });
    return ok({ text, events });
  },
});
