import { inQuotes, shownName } from "./names.ts";

type PartKind = "page" | "sheet" | "slide" | "chapter" | "estimate";
type Place = {
  readonly page?: number;
  readonly pageLabel?: string;
  readonly sheet?: string;
  readonly slide?: number;
  readonly chapter?: number;
  readonly row?: number;
  readonly line?: number;
  readonly paragraph?: number;
};
type Block = { readonly kind: string; readonly text: string; readonly level?: number };
type Receipt = {
  readonly losses: readonly { readonly kind: string; readonly count: number; readonly places: readonly Place[] }[];
  readonly stopped?: { readonly limit: string };
};

const plural: Readonly<Record<PartKind, string>> = {
  page: "pages",
  sheet: "sheets",
  slide: "slides",
  chapter: "chapters",
  estimate: "pages of about 3,000 characters",
};

/** What models read about documents: which part this is, what could not be read, and how to read on. */
export const documentsForModels = {
  range: (kind: PartKind, first: number, last: number, total: number) => `${plural[kind]} ${first}–${last} of ${total}`,
  part: ({ page, pageLabel, sheet, slide, chapter }: Place, number: number) => {
    if (sheet !== undefined) return `--- sheet ${inQuotes(sheet)} ---`;
    if (slide !== undefined) return `--- slide ${slide} ---`;
    if (chapter !== undefined) return `--- chapter ${chapter} ---`;
    if (page !== undefined) return `--- page ${page}${pageLabel === undefined ? "" : ` (printed: ${pageLabel})`} ---`;
    return `--- part ${number} ---`;
  },
  /** Where a passage stands, in the words of its format. */
  where: placeWords,
  indexing: (path: string, done: number, of: number) =>
    of === 0 ? shownName(path) : `${shownName(path)} (${done} of ${of})`,
  unreadable: (path: string, why: string) => `${shownName(path)}${why === "" ? "" : `: ${why}`}`,
  emptyPart: (number: number) => `--- ${number}: no text ---`,
  block: ({ kind, text, level = 1 }: Block) => {
    if (kind === "heading") return `${"#".repeat(Math.min(level, 6))} ${text}`;
    return kind === "note" ? `[note: ${text}]` : text;
  },
  nothing: "[no text was found in it]",
  missing: ({ losses, stopped }: Receipt) => [
    ...losses.flatMap(({ kind, count, places }) => {
      const what = lossWords[kind];
      if (what === undefined) return [];
      const pages = places.flatMap(({ page }) => (page === undefined ? [] : [page]));
      const where = pages.length === 0 ? "" : ` (${pages.join(", ")}${pages.length < count ? ", ..." : ""})`;
      return [`[${count} ${what}${where}]`];
    }),
    ...(stopped === undefined ? [] : [`[only a part of it was read: there is a limit of ${stopped.limit}]`]),
  ],
  more: (path: string, offset: number, column: number) =>
    `[more: read_file ${shownName(path)} offset=${offset}${column === 1 ? "" : ` column=${column}`}]`,
  pastEnd: (path: string, kind: PartKind, offset: number, total: number) => ({
    what: `offset ${offset} is past the end of ${shownName(path)}, which has ${total} ${plural[kind]}`,
    form: `{"path": ${inQuotes(path)}, "offset": ${Math.max(1, total)}}`,
  }),
} as const;

/** What a model should know about, because it would otherwise take silence for an answer. */
const lossWords: Readonly<Record<string, string>> = {
  pages_without_text: "pages are pictures without text, a scan say: they cannot be read without OCR",
  damaged_pages: "pages are damaged and were left out",
  pages_cut: "pages were too long and were cut",
  formulas_without_value: "formulas have no stored value: the file was saved without computing them",
  hidden_sheets: "sheets are hidden in the file",
  damaged_sheets: "sheets are damaged or missing",
  hidden_slides: "slides are hidden in the file",
  damaged_slides: "slides are damaged or missing",
  missing_chapters: "chapters are missing in the file",
  tracked_deletions: "deletions are tracked in the file; they were left out",
  damaged_parts: "parts of the file are damaged",
  texts_missing: "texts that cells refer to are missing",
  undecodable_characters: "places have characters that cannot be decoded",
  type_differs: "name differs from the content: it was read by its content",
};

/** `page 3`, `pages 3–4`, `sheet "Prices" rows 2–21`, `slide 4`. */
function placeWords(from: Place, to: Place): string {
  const { page, pageLabel, sheet, slide, chapter, row, line, paragraph } = from;
  if (sheet !== undefined) return `sheet ${inQuotes(sheet)}${row === undefined ? "" : ` ${span("row", row, to.row)}`}`;
  if (page !== undefined)
    return span("page", page, to.page) + (pageLabel === undefined ? "" : ` (printed: ${pageLabel})`);
  if (slide !== undefined) return span("slide", slide, to.slide);
  if (chapter !== undefined) return span("chapter", chapter, to.chapter);
  if (paragraph !== undefined) return span("paragraph", paragraph, to.paragraph);
  return line === undefined ? "" : span("line", line, to.line);
}

function span(what: string, first: number, last = first): string {
  return first >= last ? `${what} ${first}` : `${what}s ${first}–${last}`;
}
