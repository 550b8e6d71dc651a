import type { Bookmark } from "./pdf-document.ts";
import type { Line } from "./pdf-page.ts";

/** Lines that are one heading, of one page; empty where the page does not show the words of the bookmark. */
export type Heading = {
  readonly lines: readonly Line[];
  readonly text: string;
  readonly level: number;
  readonly before?: Line;
};

/** A title may be printed on so many lines. */
const titleLinesMax = 4;

/** The headings that the bookmarks of a page lead to, each at its line. */
export function bookmarkedHeadings(lines: readonly Line[], bookmarks: readonly Bookmark[]): readonly Heading[] {
  if (bookmarks.length === 0) return [];
  const taken = new Set<Line>();
  const folded = lines.map(({ text }) => foldings(text));
  return bookmarks.map((bookmark) => {
    const found = printedTitle({ lines, folded, taken }, bookmark);
    for (const line of found) taken.add(line);
    const { level, height } = bookmark;
    if (found.length > 0) return { lines: found, text: joinedTitle(found), level };
    const before = lines.find(({ baseline }) => height === undefined || baseline <= height);
    return { lines: [], text: bookmark.title.trim(), level, ...(before === undefined ? {} : { before }) };
  });
}

type Page = {
  readonly lines: readonly Line[];
  /** Of each line, what can be compared of it. */
  readonly folded: readonly (readonly string[])[];
  readonly taken: ReadonlySet<Line>;
};

/** Of all places with the words of the title the one nearest to where the bookmark leads. */
function printedTitle({ lines, folded, taken }: Page, { title, height }: Bookmark): readonly Line[] {
  const wanted = foldings(title);
  let best: { readonly count: number; readonly index: number; readonly distance: number } | undefined;
  for (const [index, line] of lines.entries()) {
    if (taken.has(line)) continue;
    const count = linesOfTitle(folded, index, wanted);
    if (count === 0) continue;
    const distance = height === undefined ? index : Math.abs(height - line.baseline);
    if (best === undefined || distance < best.distance) best = { count, index, distance };
  }
  if (best === undefined) return [];
  const found = lines.slice(best.index, best.index + best.count);
  const above = lines[best.index - 1];
  return above !== undefined && chapterMark.test(above.text) && !taken.has(above) ? [above, ...found] : found;
}

/** `Chapter 1` on a line of its own belongs to the title below it. */
const chapterMark =
  /^(?:chapter|appendix|part|section|kapitel|anhang|teil|chapitre|annexe|partie|capítulo|глава|приложение)\s+[\dA-ZIVX.]{1,6}[.:]?$|^第\s*[\d一二三四五六七八九十百]+\s*[章部篇編节節]$|^附[录錄]\s*[\dA-Z]{1,3}$/iu;

function linesOfTitle(folded: Page["folded"], from: number, wanted: readonly string[]): number {
  for (const start of folded[from] ?? [])
    for (const title of wanted) {
      let printed = start;
      for (let count = 1; count <= titleLinesMax; count += 1) {
        if (printed === title) return count;
        const next = folded[from + count]?.[0] ?? "";
        if (printed === "" || next === "" || !title.startsWith(printed)) break;
        printed += next;
      }
    }
  return 0;
}

/** Without blanks, marks and the many forms of one letter; first as it is, then without a number in front. */
function foldings(title: string): readonly string[] {
  const plain = title.normalize("NFKC").toLowerCase().replaceAll(/\s+/gu, " ").trim();
  const whole = withoutMarks(plain);
  if (whole === "") return [];
  const bare = plain.replace(leadingNumber, "");
  const words = bare === plain ? whole : withoutMarks(bare);
  return words === "" || words === whole ? [whole] : [whole, words];
}

/** Asked for each line of a page that a bookmark leads to: plain letters are told by a plain pattern. */
function withoutMarks(text: string): string {
  return beyondPlain.test(text) ? text.replaceAll(/[^\p{L}\p{N}]+/gu, "") : text.replaceAll(/[^a-z0-9]+/g, "");
}

const beyondPlain = /[^\0-\x7f]/;

const leadingNumber =
  /^(?:(?:chapter|appendix|part|section|kapitel|anhang)\s+)?(?:(?:\d{1,3}|[a-z]|[ivxlc]{1,6})(?:\.\d{1,3})*[.:)]?\s+|第\s*[\d一二三四五六七八九十百]+\s*[章部篇編编節节]\s*|附[录錄]\s*[\da-z]{1,3}[.:]?\s*)/u;

function joinedTitle(lines: readonly Line[]): string {
  return lines.map(({ text }) => text.replaceAll("\t", " ").trim()).join(" ");
}

/** Longer lines are sentences, however large they are printed. */
const headingCharactersMax = 120;
const largerMin = 1.12;
/** The file as a whole is printed in this size. */
export function bodySize(lines: Iterable<Line>): number {
  const characters = new Map<number, number>();
  for (const { size, text } of lines) {
    const rounded = Math.round(size * 2) / 2;
    characters.set(rounded, (characters.get(rounded) ?? 0) + text.length);
  }
  return [...characters].reduce((most, one) => (one[1] > most[1] ? one : most), [0, 0])[0];
}

/** Where there are no bookmarks: what is printed larger, or bold with a number, is a heading. */
export function printedHeadings(
  lines: readonly Line[],
  body: number,
  levels: ReadonlyMap<number, number>,
): readonly Heading[] {
  const headings: Heading[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index];
    if (line === undefined || !isPrintedHeading(line, body)) continue;
    const found = [line];
    while (found.length < titleLinesMax && isTitleGoingOn(found.at(-1), lines[index + found.length], body))
      found.push(...lines.slice(index + found.length, index + found.length + 1));
    headings.push({ lines: found, text: joinedTitle(found), level: levelOf(line, levels) });
    index += found.length - 1;
  }
  return headings;
}

function isPrintedHeading({ text, size, isBold, isFixed }: Line, body: number): boolean {
  if (isFixed || text.length > headingCharactersMax || !/\p{L}/u.test(text) || text.includes("\t")) return false;
  if (/[,;，；]$/u.test(text) || /^[•‣◦▪●–-]\s/u.test(text)) return false;
  return size >= largerMin * body || (isBold && size >= body && numbered.test(text));
}

const numbered = /^(?:\d{1,3}(?:\.\d{1,3})*\.?|第\s*[\d一二三四五六七八九十百]+\s*[章节節])\s+\S/u;
const titleLeading = 1.8;

function isTitleGoingOn(before: Line | undefined, line: Line | undefined, body: number): boolean {
  if (before === undefined || line === undefined || !isPrintedHeading(line, body)) return false;
  const gap = before.baseline - line.baseline;
  return (
    line.size === before.size &&
    line.isBold === before.isBold &&
    gap > 0 &&
    gap < titleLeading * line.size &&
    !numbered.test(line.text)
  );
}

/** Sizes of headings from the largest on: the largest is the first level. */
export function sizeLevels(lines: Iterable<Line>, body: number): ReadonlyMap<number, number> {
  const sizes = new Set<number>();
  for (const line of lines) if (isPrintedHeading(line, body)) sizes.add(line.size);
  const sorted = [...sizes].toSorted((one, other) => other - one);
  return new Map(sorted.map((size, index) => [size, Math.min(index + 1, levelsMax)]));
}

const levelsMax = 6;

function levelOf({ text, size }: Line, levels: ReadonlyMap<number, number>): number {
  const depth = /^(\d{1,3}(?:\.\d{1,3})*)\.?\s/.exec(text)?.[1]?.split(".").length;
  return Math.min(depth ?? levels.get(size) ?? 1, levelsMax);
}
