import { z } from "zod";
import { ok } from "../../base/result.ts";
import { forModels, withoutOurTags } from "../../words/words.ts";
import { fitEntries } from "../fit-entries.ts";
import { shortened } from "../output.ts";
import { defineTool } from "../tool.ts";

const queryBytesMax = 200;

export const recall = defineTool({
  name: "recall",
  description:
    "List the memories that remember stored about this user. Use it to find an older one: the newest are told to you at the start. Not for what was said in conversations: use search_history. Returns the memories, newest first.",
  class: "pure",
  isOnDemand: true,
  input: z.object({ query: z.string().optional().describe("Words that it must have. Left out: all memories.") }),
  otherNames: { text: "query", q: "query", search: "query", keyword: "query" },
  async run({ query = "" }, { memory, outputBytesMax }) {
    const { memory: words } = forModels;
    const all = await memory.memories();
    if (all.length === 0) return ok({ text: words.noMemories });
    const wanted = query.toLowerCase().split(/\s+/);
    const found = all.filter((one) => wanted.every((word) => one.toLowerCase().includes(word))).map(withoutOurTags);
    if (found.length === 0) return ok({ text: words.noMemoryWith(shortened(query, queryBytesMax), all.length) });
    const { shown, left } = fitEntries(found, { countMax: found.length, bytesMax: outputBytesMax });
    return ok({
      text: [words.memories(shown, all.length), ...(left > 0 ? [words.memoriesLeft(left)] : [])].join("\n"),
    });
  },
});
