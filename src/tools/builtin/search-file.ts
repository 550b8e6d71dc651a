import { z } from "zod";
import { ok } from "../../base/result.ts";
import type { SearchHit, SearchResult, Unsearched } from "../../documents/documents.ts";
import { forModels } from "../../words/words.ts";
import { errorForModel } from "../error-text.ts";
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
    'Search the text of files and documents (pdf, docx, xlsx, pptx, epub). Use it to find the place in large files, then read there with read_file. Not for finding files by name: use find_files. Looks for the query as it is written, then for its words and "phrases", in any case; in documents for passages that answer it best. Returns path:line, of documents the page, sheet or slide, with the text around each **match**, and how many there are in all.',
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
  const entries = hits.map((hit) => shownHit(hit, hit.text));
  const fitting = fitEntries(entries, { countMax: hitsMax, bytesMax }).shown;
  const shown = fitting.length > 0 ? fitting : hits.slice(0, 1).map((hit) => shortHit(hit, bytesMax - frameBytes));
  const notes = [
    ...(shown.length < hits.length ? [files.hitsLeft(hits.length - shown.length)] : []),
    ...documentNotes(result),
    ...(filesSkipped > 0 ? [files.skipped(filesSkipped)] : []),
    ...(stopped === undefined ? [] : [files.stopped[stopped]]),
  ];
  if (total === 0)
    return { text: [files.noHits(shortened(query, queryBytesMax), filesSearched), ...notes].join("\n"), outside: [] };
  const count = stopped === undefined ? String(total) : `${total} or more`;
  const heading = files.hits(shown.length, count, filesSearched, hits.every(isLine) ? "lines" : "places");
  const from = heading.length + 2;
  const places = shown.join("\n\n");
  return {
    text: [heading, places, ...notes].join("\n\n"),
    outside: [{ source: "search_file", from, to: from + places.length }],
  };
}

function isLine(hit: SearchHit): boolean {
  return "line" in hit;
}

function shownHit(hit: SearchHit, text: string): string {
  const { files, documents } = forModels;
  if ("line" in hit) return files.hit(hit.path, hit, text);
  return files.passage(hit.path, documents.where(hit.from, hit.to), hit.headings, text);
}

/** Documents that are named, of those that were not searched. */
const unsearchedMax = 10;

/** What was not searched in documents, and what was looked for instead: silence would be taken for an answer. */
function documentNotes({ unsearched, missing, repaired, hits }: SearchResult): string[] {
  const { files, documents } = forModels;
  const isFailed = ({ state }: Unsearched) => state === "failed";
  const failed = unsearched.filter(isFailed);
  const waiting = unsearched.filter((each) => !isFailed(each));
  const some = <T>(all: readonly T[], show: (each: T) => string) => all.slice(0, unsearchedMax).map(show);
  const unready = some(waiting, ({ path, done, of }) => documents.indexing(path, done, of));
  const unread = some(failed, ({ path, failure }) =>
    documents.unreadable(path, failure === undefined ? "" : errorForModel(failure)),
  );
  return [
    ...(waiting.length > 0 ? [files.notReady(unready, waiting.length)] : []),
    ...(failed.length > 0 ? [files.unreadable(unread, failed.length)] : []),
    ...(hits.every(isLine) ? [] : repaired.map(({ said, meant }) => files.repaired(said, meant))),
    ...(hits.every(isLine) || missing.length === 0 ? [] : [files.missing(missing)]),
  ];
}

/** As much around the match as there is room for. */
function shortHit(hit: SearchHit, bytesMax: number): string {
  const room = bytesMax - outputBytes(shownHit(hit, ""));
  const { text } = hit;
  return shownHit(hit, cutAround(text, Math.max(0, text.indexOf("**")), Math.max(room, 0)));
}
