/** What a file says, in the order a reader meets it, and what was met on the way. */
export type Extracted = {
  readonly format: Format;
  readonly blocks: readonly Block[];
  readonly receipt: Receipt;
};

export type Format = "pdf" | "docx" | "xlsx" | "pptx" | "html" | "markdown" | "csv" | "epub" | "text";

/**
 * A stretch of text that belongs together: never cut inside by whoever makes passages of them, but where one alone is
 * too long. `contents` is a table of contents, an index or a list of figures; `note` a footnote, comment or speaker's note.
 */
export type Block = {
  readonly kind: "heading" | "paragraph" | "list" | "table" | "code" | "contents" | "note";
  /** As it stands in the file, without running heads; of a table its rows, a line each, cells apart by a tab. */
  readonly text: string;
  /** Of a heading, from 1 on. */
  readonly level?: number;
  /** Of a table: how many of its first rows are its head, which each part of it repeats. */
  readonly headRows?: number;
  readonly from: Place;
  /** Where its last line stands, if that is another place. */
  readonly to?: Place;
  /** Where in its text another page begins; who cuts it can say on which pages each part lies. */
  readonly pageStarts?: readonly PageStart[];
};

export type PageStart = { readonly at: number; readonly place: Place };

/** Where to open the file; what a format does not have is not there. All from 1 on. */
export type Place = {
  readonly page?: number;
  /** As it is printed on the page, where that differs: `iv`, `12-3`. */
  readonly pageLabel?: string;
  readonly sheet?: string;
  readonly slide?: number;
  /** Of a book: the chapter in reading order. */
  readonly chapter?: number;
  /** Of a table; in sheets as the program numbers it. */
  readonly row?: number;
  /** Of text, Markdown, HTML, CSV. */
  readonly line?: number;
  /** Of a document without pages. */
  readonly paragraph?: number;
};

/** What became of a file, for people: nothing is dropped in silence. */
export type Receipt = {
  readonly title?: string;
  /** Pages, sheets, slides or chapters, whatever the format has. */
  readonly parts?: { readonly kind: "page" | "sheet" | "slide" | "chapter"; readonly count: number };
  /** Of the text that was taken. */
  readonly characters: number;
  readonly tables: number;
  readonly images: number;
  /** `en`, `zh`, `zh-Hant`, …; undefined where it cannot be told. */
  readonly language?: string;
  readonly encoding?: string;
  /** What was left out or cannot be read, one entry each kind. */
  readonly losses: readonly Loss[];
  /** Only a part was read: a limit, and where it was met. What was read is kept. */
  readonly stopped?: { readonly limit: string; readonly at: Place };
};

export type Loss = {
  /** `pages_without_text` (a scan, needs OCR), `formulas_without_value`, `hidden_sheets`, `type_differs`, … */
  readonly kind: string;
  readonly count: number;
  /** Where, at most the first twenty. */
  readonly places: readonly Place[];
};
