import { inQuotes } from "./names.ts";

/** Text from outside as models read it: nobody who could have written the text knows the mark that ends it. */
export function dataBlock({ source, mark, text }: Block): string {
  return `<data source=${inQuotes(source)} mark="${mark}">\n${text}${text.endsWith("\n") ? "" : "\n"}${endOf(mark)}`;
}

type Block = { readonly source: string; readonly mark: string; readonly text: string };

/** What a block adds to its text, at the most, beside its source. */
export const blockBytes = 70;

function endOf(mark: string): string {
  return `</data mark="${mark}">`;
}

/** Where a block stands in a text; `begin` and `end` are its marks, with the line ends that belong to them. */
export type DataBlock = { readonly from: number; readonly to: number; readonly begin: string; readonly end: string };

/** The blocks of a text from `start` on, in order. What looks like one inside of another is its text. */
export function dataBlocksIn(text: string, start = 0): DataBlock[] {
  const blocks: DataBlock[] = [];
  let from = start;
  for (const { 0: begin, index, groups } of text.matchAll(blockBegin)) {
    const end = `\n${endOf(groups?.mark ?? "")}`;
    const at = index < from ? -1 : text.indexOf(end, index + begin.length - 1);
    if (at < 0) continue;
    from = at + end.length;
    blocks.push({ from: index, to: from, begin, end });
  }
  return blocks;
}

const blockBegin = /^<data source="(?:[^"\\\n]|\\.)*" mark="(?<mark>\w+)">\n/gm;

/** The same without the marks and the line end before the last one, for people and for those who compare. */
export function withoutMarks(text: string): string {
  let plain = "";
  let at = 0;
  for (const { from, to, begin, end } of dataBlocksIn(text)) {
    plain += text.slice(at, from) + text.slice(from + begin.length, to - end.length);
    at = to;
  }
  return plain + text.slice(at);
}

/** The text from `start` on, or up to `end`, with its blocks whole: one that is cut through is opened or closed. */
export function cutText(text: string, blocks: readonly DataBlock[], { start = 0, end = text.length }): string {
  const first = blocks.find(({ from, to }) => from < start && start < to);
  const last = blocks.find(({ from, to }) => from < end && end < to);
  const opened = first === undefined ? { mark: "", start } : openedAt(first, start);
  const closed = last === undefined ? { mark: "", end } : closedAt(last, end);
  return opened.mark + text.slice(opened.start, closed.end) + closed.mark;
}

function openedAt({ from, to, begin, end }: DataBlock, start: number): { mark: string; start: number } {
  const isOver = start >= to - end.length;
  return isOver ? { mark: "", start: to } : { mark: begin, start: Math.max(start, from + begin.length) };
}

function closedAt({ from, to, begin, end: mark }: DataBlock, end: number): { mark: string; end: number } {
  const isShown = end > from + begin.length;
  return isShown ? { mark, end: Math.min(end, to - mark.length) } : { mark: "", end: from };
}

/** Our own tags in what others wrote: they mean nothing there, and are written so that they cannot be mistaken. */
export function withoutOurTags(text: string): string {
  if (!text.includes("<")) return text; // Making the pattern ready costs more than most starts have for it.
  return text.replaceAll(ourTag, "<$<slash>\u00b7$<name>");
}

const ourTags = [
  "system_reminder",
  "standing_instructions",
  "user_memories",
  "user_notes",
  "user_words",
  "current_datetime",
];
/** A few blanks and characters that nobody sees make no other tag of it. */
const unseen = "[\\s\\p{Cf}]{0,3}";
const names = ourTags.map((name) => name.replace("_", `${unseen}[_-]?${unseen}`)).join("|");
const ourTag = new RegExp(`<(?<slash>${unseen}/?${unseen})(?<name>(?:${names})\\b)`, "giu");
