import { z } from "zod";
import { ok, type Result } from "../../base/result.ts";
import type { Failure } from "../../protocol/failure.ts";
import { type SearchProvider, searchServices } from "../../web/web.ts";
import { forModels } from "../../words/words.ts";
import { fitEntries } from "../fit-entries.ts";
import { shortened } from "../output.ts";
import { defineTool, type ToolContext, type ToolOutput } from "../tool.ts";

const hitsDefault = 5;
const hitsMax = 10;
const titleBytesMax = 200;
const textBytesMax = 400;

const input = z.object({
  query: z.string().trim().min(1).max(400).describe("Words as one types them into a search engine."),
  max_results: z.int().min(1).optional().describe("At most 10. Left out: 5."),
});
const otherNames = {
  ...{ q: "query", text: "query", search: "query", keywords: "query", question: "query" },
  ...{
    limit: "max_results",
    num: "max_results",
    count: "max_results",
    top_k: "max_results",
    num_results: "max_results",
  },
};

export const webSearch = defineTool({
  name: "web_search",
  description:
    "Search the web. Use it for current facts and for what you do not know; then read the best hits with fetch_web before you rely on them. Not for files of the workspace: use search_file. Returns up to 10 results with title, address and some lines of each.",
  class: "idempotent",
  isOutside: true,
  input,
  otherNames,
  aliases: ["search_web"],
  run: (given, context) => search(given, undefined, context),
});

/** The name that older agents know; only with Google's own key. */
export const googleSearch = defineTool({
  name: "google_search",
  description:
    "Search the web with Google. Use it where Google itself is wanted. Not for anything else: web_search does the same with the service that is set. Returns up to 10 results with title, address and some lines of each.",
  class: "idempotent",
  isOutside: true,
  isOnDemand: true,
  input,
  otherNames,
  run: (given, context) => search(given, "google", context),
});

async function search(
  { query, max_results = hitsDefault }: z.infer<typeof input>,
  provider: SearchProvider | undefined,
  { web, signal, outputBytesMax }: ToolContext,
): Promise<Result<ToolOutput, Failure>> {
  const { web: words } = forModels;
  const found = await web.search({ query, hitsMax: Math.min(max_results, hitsMax), provider, signal });
  if (!found.ok) return found;
  const { name } = searchServices[found.value.provider];
  if (found.value.hits.length === 0) return ok({ text: words.noHits(JSON.stringify(query), name), outside: [] });
  const entries = found.value.hits.map(({ title, url, text }, index) =>
    words.hit({
      ...{ number: index + 1, url },
      title: shortened(title, titleBytesMax),
      text: shortened(text, textBytesMax),
    }),
  );
  const { shown } = fitEntries(entries, { countMax: hitsMax, bytesMax: outputBytesMax });
  const heading = words.hits(shown.length, name);
  const from = heading.length + 1;
  const said = shown.join("\n");
  return ok({ text: `${heading}\n${said}`, outside: [{ source: "web_search", from, to: from + said.length }] });
}
