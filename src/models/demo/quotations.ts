import type { DemoWords } from "./intent.ts";
import { fenced, shown } from "./shown-text.ts";

/** What `search_file` found in a document. */
type Quotation = {
  readonly path: string;
  readonly place: string;
  readonly first: string;
  readonly last: string;
  readonly heading: string;
  readonly text: string;
};

const quotationsMax = 3;
const quoteCharacters = 240;

/** The first line of a passage: `uploads/manual.pdf pages 2–3 › 2 Care`. */
const passageLine =
  /^(?<path>\S.*?) (?:(?<place>page|slide|chapter|paragraph)s? (?<first>\d+)(?:–(?<last>\d+))?|sheet "(?<sheet>[^"]*)").*?(?: › (?<heading>[^›]+))?$/;

/** Passages of documents with their pages and what they say there, lines of texts as they are; undefined without passages. */
export function quotationsText(result: string, words: DemoWords): string | undefined {
  const entries = result.split("\n\n").filter((entry) => entry.includes("**"));
  const read = entries.map((entry) => ({ entry, quotation: quotationOf(entry) }));
  const quotations = read.flatMap(({ quotation }) => quotation ?? []).slice(0, quotationsMax);
  if (quotations.length === 0) return undefined;
  const lines = read.filter(({ quotation }) => quotation === undefined).map(({ entry }) => entry);
  return [
    ...quotations.map(({ text, ...where }) => `${words.foundAt(where)}\n\n> ${quoteOf(text)}`),
    ...(lines.length === 0 ? [] : [fenced(shown(lines.join("\n\n")))]),
  ].join("\n\n");
}

function quotationOf(entry: string): Quotation | undefined {
  const end = entry.indexOf("\n");
  const found = passageLine.exec(entry.slice(0, Math.max(0, end)))?.groups;
  if (found === undefined) return undefined;
  const { path = "", place = "sheet", first = found.sheet ?? "", last = first, heading = "" } = found;
  return { path, place, first, last, heading, text: entry.slice(end + 1) };
}

/** One line of it, around what was found. */
function quoteOf(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  if (line.length <= quoteCharacters) return line;
  const from = Math.max(0, Math.min(line.indexOf("**") - quoteCharacters / 2, line.length - quoteCharacters));
  const part = line.slice(from, from + quoteCharacters).toWellFormed();
  return `${from > 0 ? "…" : ""}${part}${from + quoteCharacters < line.length ? "…" : ""}`;
}
