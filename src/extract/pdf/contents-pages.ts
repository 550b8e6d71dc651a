import type { Line } from "./pdf-page.ts";

/** Fewer lines tell nothing about a page. */
const linesMin = 3;
const entriesShareMin = 0.4;

/** A page of a table of contents, of a list of figures or of an index: it names what stands elsewhere. */
export function isContentsPage(lines: readonly Line[], isTitle: (words: string) => boolean): boolean {
  if (lines.length < linesMin) return false;
  const entries = lines.filter(({ text }) => isEntry(text, isTitle));
  return entries.length > entriesShareMin * lines.length;
}

/** An entry says where it leads at its end; longer lines would only cost time. */
const entryCharactersMax = 400;

function isEntry(line: string, isTitle: (words: string) => boolean): boolean {
  const text = line.slice(-entryCharactersMax);
  if (dotLeader.test(text) || indexEntry.test(text)) return true;
  const titled = withNumber.exec(text)?.[1];
  return titled !== undefined && isTitle(titled);
}

const number = "(?:\\d{1,5}|[ivxlc]{1,8}|[A-Z]-?\\d{1,4}|\\d{1,3}-\\d{1,4})";
const dotLeader = new RegExp(`(?:(?:[.·․‥…] ?){4,}|…{2,})\\s*${number}$`, "i");
/** `words, 12, 34–36` */
const indexEntry = /[^\d\s],\s\d{1,5}(?:\s?[-–,]\s?\d{1,5})*$/u;
const withNumber = new RegExp(`^(.*\\S)\\s+${number}$`);
