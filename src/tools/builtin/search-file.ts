import { z } from "zod";
import { ok } from "../../base/result.ts";
import type { SearchHit, SearchResult } from "../../documents/documents.ts";
import { forModels } from "../../words/words.ts";
import { fitEntries } from "../fit-entries.ts";
import { cutAround, outputBytes, shortened } from "../output.ts";
import { defineTool, type ToolOutput } from "../tool.ts";

const hitsDefault = 5;
const hitsMax = 20;
const contextDefaultCharacters = 100;
const contextCharactersMax = 1_000;

export const searchFile = defineTool({
  name: "search_file",
  description:
    'Search the text of files. Use it to find the place in large files, then read there with read_file. Not for finding files by name: use find_files. Looks for the query as it is written, then for its words and "phrases", in any case. Returns path:line and the lines around each **match**, and how many there are in all.',
  class: "pure",
  isBasic: true,
  isOutside: true,
  input: z.object({
    query: z.string().min(1).describe("A word, a phrase or a number."),
    path: z.string().optional().describe("A file or folder. Left out: all files."),
    max_results: z.int().min(1).optional().describe("Places to show, at most 20. Left out: 5."),
    context_chars: z.int().min(0).optional().describe("Characters on either side of a match. Left out: 100."),
    use_regex: z.boolean().optional().describe("True: query is a regular expression."),
  }),
  otherNames: {
    ...{ pattern: "query", text: "query", keyword: "query", search: "query", q: "query" },
    ...{ file_path: "path", file: "path", directory: "path", dir: "path", folder: "path" },
    ...{ limit: "max_results", top_k: "max_results", context: "context_chars" },
    ...{ regex: "use_regex", is_regex: "use_regex" },
  },
  async run({ query, path = ".", max_results, context_chars, use_regex = false }, context) {
    const { documents, workspace, signal, outputBytesMax } = context;
    const result = await documents.search(workspace, {
      ...{ path, query, isRegex: use_regex, signal },
      hitsMax: Math.min(max_results ?? hitsDefault, hitsMax),
      contextCharacters: Math.min(
        context_chars ?? contextDefaultCharacters,
        contextCharactersMax,
        roomFor(outputBytesMax),
      ),
    });
    return result.ok ? ok(describeResult(query, result.value, outputBytesMax)) : result;
  },
});

/** Room for the sentences around the hits, and for a long match. */
const frameBytes = 1_000;
const characterBytesMax = 4;

/** Characters on either side of a match with which one hit fits. */
function roomFor(bytesMax: number): number {
  return Math.max(0, Math.floor((bytesMax - frameBytes) / (2 * characterBytesMax)));
}

const queryBytesMax = 200;

function describeResult(query: string, result: SearchResult, bytesMax: number): ToolOutput {
  const { files } = forModels;
  const { hits, total, filesSearched, filesSkipped, stopped } = result;
  const entries = hits.map((hit) => files.hit(hit.path, hit, hit.text));
  const fitting = fitEntries(entries, { countMax: hitsMax, bytesMax }).shown;
  const shown = fitting.length > 0 ? fitting : hits.slice(0, 1).map((hit) => shortHit(hit, bytesMax - frameBytes));
  const notes = [
    ...(shown.length < hits.length ? [files.hitsLeft(hits.length - shown.length)] : []),
    ...(filesSkipped > 0 ? [files.skipped(filesSkipped)] : []),
    ...(stopped === undefined ? [] : [files.stopped[stopped]]),
  ];
  if (total === 0)
    return { text: [files.noHits(shortened(query, queryBytesMax), filesSearched), ...notes].join("\n"), outside: [] };
  const count = stopped === undefined ? String(total) : `${total} or more`;
  const heading = files.hits(shown.length, count, filesSearched);
  const from = heading.length + 2;
  const places = shown.join("\n\n");
  return {
    text: [heading, places, ...notes].join("\n\n"),
    outside: [{ source: "search_file", from, to: from + places.length }],
  };
}

/** As much around the match as there is room for. */
function shortHit({ path, text, ...place }: SearchHit, bytesMax: number): string {
  const { files } = forModels;
  const room = bytesMax - outputBytes(files.hit(path, place, ""));
  return files.hit(path, place, cutAround(text, Math.max(0, text.indexOf("**")), Math.max(room, 0)));
}
