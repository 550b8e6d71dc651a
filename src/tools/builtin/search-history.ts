import { z } from "zod";
import { ok } from "../../base/result.ts";
import { forModels } from "../../words/words.ts";
import { fitEntries } from "../fit-entries.ts";
import { shortened } from "../output.ts";
import { defineTool, type HistoryHit } from "../tool.ts";

const hitsDefault = 5;
const hitsMax = 20;
const wordsMax = 10;
const wordBytesMax = 100;

export const searchHistory = defineTool({
  name: "search_history",
  description:
    "Search what was said and found before: in this conversation, also what was left out to make room, and in the user's other ones. Use it when something earlier is missing here. Not for files: use search_file. Returns conversation, date, who said it and the lines around.",
  class: "pure",
  isOnDemand: true,
  isOutside: true,
  input: z.object({
    query: z.string().min(1).describe("Words that it must have, all of them, in any case."),
    max_results: z.int().min(1).optional().describe("At most 20. Left out: 5."),
  }),
  otherNames: {
    ...{ text: "query", q: "query", search: "query", keyword: "query", keywords: "query" },
    ...{ limit: "max_results", top_k: "max_results" },
  },
  async run({ query, max_results = hitsDefault }, context) {
    const { memory: words } = forModels;
    const wanted = wordsOf(query);
    const found = await context.searchHistory({ words: wanted, hitsMax: Math.min(max_results, hitsMax) });
    const notes = found.isStopped ? [words.stopped] : [];
    if (found.total === 0)
      return ok({ text: [words.noHits(wanted, found.conversations), ...notes].join("\n"), outside: [] });
    const { shown } = fitEntries(found.hits.map(entryOf), { countMax: hitsMax, bytesMax: context.outputBytesMax });
    const heading = words.hits(shown.length, found.total);
    const from = heading.length + 1;
    const said = shown.join("\n\n");
    return ok({
      text: [heading, said, ...notes].join("\n"),
      outside: [{ source: "search_history", from, to: from + said.length }],
    });
  },
});

/** Words, and "phrases" in quotes; Chinese has no blanks between words, so there each piece is looked for as it is. */
function wordsOf(query: string): string[] {
  const pieces = Array.from(query.matchAll(/"([^"]+)"|“([^”]+)”|(\S+)/g), ([, ...found]) => found.find(Boolean) ?? "");
  const words = pieces.map((word) => shortened(word.trim(), wordBytesMax)).filter((word) => word !== "");
  return words.length === 0 ? [query] : words.slice(0, wordsMax);
}

function entryOf({ conversation, at, who, text }: HistoryHit): string {
  const { memory: words } = forModels;
  return words.hit({
    where: conversation === undefined ? words.here : words.other(conversation.id, conversation.title),
    at: new Date(at).toISOString().slice(0, 16).replace("T", " "),
    who: typeof who === "object" ? words.who.result(who.tool) : words.who[who],
    text,
  });
}
