import { type BlockList, openBlockList } from "../block-list.ts";
import type { Block, Place } from "../extracted.ts";
import { charactersMax } from "../limits.ts";
import type { Losses } from "../losses.ts";
import type { Attributes, XmlHandler } from "../packed/xml.ts";
import type { StyleKind } from "./docx-styles.ts";

export type Paragraph = {
  text: string;
  heading: number | undefined;
  isContents: boolean;
  isList: boolean;
  /** Ids of what is noted at it, each with its kind in front: `footnote 3`. */
  readonly notes: string[];
};
type Table = {
  readonly rows: string[][];
  cell: string[] | undefined;
  headRows: number;
  /** Columns that the open cell has besides its first. */
  spanned: number;
  readonly notes: string[];
};

export type DocxWriter = XmlHandler & {
  readonly blocks: readonly Block[];
  readonly images: number;
  readonly isFull: boolean;
  /** Where it is now. */
  readonly place: Place;
};

export type WriterOptions = {
  readonly styles: (id: string) => StyleKind;
  /** What is noted under an id, if anything. */
  readonly noteOf: (id: string) => string | undefined;
  readonly losses: Losses;
};

/** What must not be read: what was deleted or moved away, the second of two versions, and readings above letters. */
const skipped = new Set(["moveFrom", "Fallback", "rt", "instrText", "delText"]);
const noteMarks: Readonly<Record<string, string>> = {
  footnoteReference: "footnote",
  endnoteReference: "endnote",
  commentReference: "comment",
};
const signs: Readonly<Record<string, string>> = { tab: "\t", br: "\n", cr: "\n", noBreakHyphen: "-", ptab: "\t" };

type State = WriterOptions & {
  readonly list: BlockList;
  readonly paragraphs: Paragraph[];
  readonly tables: Table[];
  /** Notes that stand in the list by now. */
  readonly noted: Set<string>;
  skips: number;
  inText: number;
  /** Paragraphs of the body so far. */
  count: number;
  images: number;
};

/** Paragraphs and tables in the order of the body; paragraphs of a text box come before the one that holds it. */
export function openDocxWriter(options: WriterOptions): DocxWriter {
  const state: State = {
    ...{ ...options, list: openBlockList(), paragraphs: [], tables: [], noted: new Set() },
    ...{ skips: 0, inText: 0, count: 0, images: 0 },
  };
  return {
    blocks: state.list.blocks,
    get images() {
      return state.images;
    },
    get isFull() {
      return state.list.characters > charactersMax;
    },
    get place() {
      return placeOf(state);
    },
    open: (name, attributes) => openTag(state, name, attributes),
    close: (name) => closeTag(state, name),
    text(text) {
      const paragraph = state.paragraphs.at(-1);
      if (state.skips === 0 && state.inText > 0 && paragraph !== undefined) paragraph.text += text;
    },
  };
}

function placeOf({ count }: State): Place {
  return { paragraph: Math.max(count, 1) };
}

function openTag(state: State, name: string, attributes: Attributes): void {
  if (skipped.has(name)) state.skips += 1;
  if (name === "delText" || name === "moveFrom") state.losses.add("tracked_deletions", placeOf(state));
  if (state.skips > 0) return;
  if (name === "p") {
    if (state.tables.length === 0) state.count += 1;
    state.paragraphs.push(emptyParagraph());
  } else if (name === "t") state.inText += 1;
  else if (name === "blip" || name === "imagedata") state.images += 1;
  else if (name === "altChunk") state.losses.add("embedded_parts", placeOf(state));
  else {
    openInTable(state.tables, name, attributes);
    openInParagraph(state, name, attributes);
  }
}

function closeTag(state: State, name: string): void {
  if (skipped.has(name)) state.skips = Math.max(state.skips - 1, 0);
  if (state.skips > 0) return;
  if (name === "t") state.inText = Math.max(state.inText - 1, 0);
  else if (name === "p") endParagraph(state, state.paragraphs.pop() ?? emptyParagraph());
  else if (name === "tc") endCell(state.tables.at(-1));
  else if (name === "tbl") endTable(state, state.tables.pop() ?? emptyTable());
}

function endParagraph(state: State, paragraph: Paragraph): void {
  const text = trimmedLines(paragraph.text);
  const table = state.tables.at(-1);
  if (table === undefined) {
    if (text !== "") state.list.push({ ...kindOf(paragraph, text), from: placeOf(state) });
    pushNotes(state, paragraph.notes);
    return;
  }
  if (text !== "") table.cell?.push(text.replaceAll(/\s+/g, " "));
  for (const note of paragraph.notes) table.notes.push(note);
}

/** Not by a pattern: one for blanks around line ends takes hours for a megabyte of blanks. */
export function trimmedLines(text: string): string {
  return text
    .split("\n")
    .map((line) => line.trim())
    .join("\n")
    .trim();
}

function endTable(state: State, table: Table): void {
  const rows = table.rows.filter((row) => row.some((cell) => cell !== ""));
  const above = state.tables.at(-1);
  if (above !== undefined) {
    above.cell?.push(rows.map((row) => row.join(" ")).join(" "));
    for (const note of table.notes) above.notes.push(note);
    return;
  }
  const text = rows.map((row) => row.join("\t")).join("\n");
  const headRows = Math.min(table.headRows, rows.length);
  if (text !== "") state.list.push({ kind: "table", text, headRows, from: placeOf(state) });
  pushNotes(state, table.notes);
}

function pushNotes(state: State, notes: readonly string[]): void {
  for (const note of notes) {
    // Once each, however often it is referred to: a small file could say a long one without end.
    if (state.noted.has(note) || state.list.characters > charactersMax) continue;
    state.noted.add(note);
    const text = state.noteOf(note) ?? "";
    if (text !== "") state.list.push({ kind: "note", text, from: placeOf(state) });
  }
}

function openInTable(tables: Table[], name: string, attributes: Attributes): void {
  const table = tables.at(-1);
  const value = attributes.get("val") ?? "";
  if (name === "tbl") tables.push(emptyTable());
  if (table === undefined) return;
  if (name === "tr") {
    table.rows.push([]);
    table.cell = undefined;
  } else if (name === "tc") table.cell = [];
  else if (name === "tblHeader" && value !== "0" && value !== "false") table.headRows = table.rows.length;
  else if (name === "tblLook" && isFirstRowHead(attributes.get("firstRow"), value))
    table.headRows = Math.max(table.headRows, 1);
  else if (name === "gridSpan") table.spanned = Math.min(Math.max(Math.trunc(Number(value)) || 1, 1) - 1, spansMax);
}

function openInParagraph({ paragraphs, styles }: State, name: string, attributes: Attributes): void {
  const paragraph = paragraphs.at(-1);
  if (paragraph === undefined) return;
  const value = attributes.get("val") ?? "";
  const noted = noteMarks[name];
  if (name === "pStyle") Object.assign(paragraph, styled(styles(value)));
  else if (name === "outlineLvl") paragraph.heading = Number(value) < 9 ? Number(value) + 1 : undefined;
  else if (name === "numPr") paragraph.isList = true;
  else if (noted !== undefined) paragraph.notes.push(`${noted} ${attributes.get("id") ?? ""}`);
  else if (name in signs) paragraph.text += signs[name] ?? "";
}

function styled({ heading, isContents = false }: StyleKind): Partial<Paragraph> {
  return { ...(heading === undefined ? {} : { heading }), isContents };
}

function isFirstRowHead(said: string | undefined, bits: string): boolean {
  return said === undefined ? (Number.parseInt(bits, 16) & 0x20) !== 0 : said === "1" || said === "true";
}

/** A cell over several columns stands in the first of them. */
const spansMax = 100;

function endCell(table: Table | undefined): void {
  if (table?.cell === undefined) return;
  table.rows.at(-1)?.push(table.cell.join(" "), ...Array.from({ length: table.spanned }, () => ""));
  table.cell = undefined;
  table.spanned = 0;
}

function emptyTable(): Table {
  return { rows: [], cell: undefined, headRows: 0, spanned: 0, notes: [] };
}

function emptyParagraph(): Paragraph {
  return { text: "", heading: undefined, isContents: false, isList: false, notes: [] };
}

function kindOf({ heading, isContents, isList }: Paragraph, text: string): Pick<Block, "kind" | "text" | "level"> {
  if (isContents) return { kind: "contents", text };
  if (heading !== undefined) return { kind: "heading", text: text.replaceAll(/\s+/g, " "), level: heading };
  return isList ? { kind: "list", text: `- ${text}` } : { kind: "paragraph", text };
}
