import { bodySize } from "./headings.ts";
import type { Line, PdfPage } from "./pdf-page.ts";

/** Looked at on each page: so many lines from its upper edge, and so many from its lower one. */
const edgeLines = 2;
/** Running heads stand in the margins: so much of the height of a page. */
const marginShare = 0.12;
/** Text that stands on fewer pages, one after the other or each second one, is no running head. */
const pagesMin = 3;
const pagesApartMax = 2;
/** What is printed so much larger than the text is a title, also where each chapter begins with one. */
const titleSize = 1.25;
/** Where running heads stand, other lines at the same height are so too: chapters have titles, and some are short. */
const bandPagesShareMin = 0.25;
const bandRepeatedShareMin = 0.6;

/** Lines at the edges of pages that come again page for page: titles and page numbers, which belong to no sentence. */
export function runningHeads(pages: readonly PdfPage[]): ReadonlySet<Line> {
  const body = bodySize(pages.flatMap(({ lines }) => lines));
  const edges = pages.map((page) => edgesOf(page).filter(({ size }) => size < titleSize * body));
  const repeated = repeatedLines(edges);
  const isRepeated = (line: Line) => repeated.has(line);
  const bands = new Map<number, { repeated: number; all: number }>();
  for (const line of edges.flat()) {
    const band = bands.get(bandOf(line)) ?? { repeated: 0, all: 0 };
    bands.set(bandOf(line), { repeated: band.repeated + (isRepeated(line) ? 1 : 0), all: band.all + 1 });
  }
  const isBand = (line: Line) => {
    const band = bands.get(bandOf(line)) ?? { repeated: 0, all: 0 };
    return band.repeated >= bandPagesShareMin * pages.length && band.repeated >= bandRepeatedShareMin * band.all;
  };
  return new Set(edges.flat().filter((line) => isRepeated(line) || (pages.length >= pagesMin && isBand(line))));
}

function repeatedLines(edges: readonly (readonly Line[])[]): ReadonlySet<Line> {
  const runs = new Map<string, { last: number; count: number }>();
  const keys = new Map<Line, readonly string[]>();
  const found = new Set<string>();
  for (const [page, lines] of edges.entries()) {
    for (const line of lines) keys.set(line, keysOf(line, page));
    for (const key of new Set(lines.flatMap((line) => keys.get(line) ?? []))) {
      const run = runs.get(key);
      const count = run !== undefined && page - run.last <= pagesApartMax ? run.count + 1 : 1;
      runs.set(key, { last: page, count });
      if (count >= pagesMin) found.add(key);
    }
  }
  return new Set([...keys].filter(([, all]) => all.some((key) => found.has(key))).map(([line]) => line));
}

function edgesOf({ lines, height }: PdfPage): readonly Line[] {
  const isInMargin = ({ baseline }: Line) => baseline < marginShare * height || baseline > (1 - marginShare) * height;
  const byHeight = lines.filter(isInMargin).toSorted((one, other) => other.baseline - one.baseline);
  return [...new Set([...byHeight.slice(0, edgeLines), ...byHeight.slice(-edgeLines)])];
}

const bandPoints = 3;

function bandOf({ baseline }: Line): number {
  return Math.round(baseline / bandPoints);
}

/** More numbers stand in no running head. */
const numbersMax = 8;

/**
 * Text with its height on the page: as it is, and with each of its numbers as how far it is from the page's own place. Only
 * what is the same on other pages, or counts on with them, is a running head: rows of a table differ by their numbers, too.
 */
function keysOf(line: Line, page: number): readonly string[] {
  const text = line.text.toLowerCase().replaceAll(/\s+/g, " ");
  const band = bandOf(line);
  const numbers = [...text.matchAll(/\d+|\b[ivxlc]+\b/g)].slice(0, numbersMax);
  return [
    `${band} ${text}`,
    ...numbers.map(({ 0: number, index }) => {
      const apart = numberOf(number) - page;
      return `${band} ${text.slice(0, index)}#${apart}#${text.slice(index + number.length)}`;
    }),
  ];
}

const romanDigits: Readonly<Record<string, number>> = { i: 1, v: 5, x: 10, l: 50, c: 100 };

/** Of digits, or as the first pages of books are numbered. */
function numberOf(written: string): number {
  if (/^\d/.test(written)) return Number(written);
  const digits = Array.from(written, (digit) => romanDigits[digit] ?? 0);
  return digits.reduce((sum, digit, index) => sum + (digit < (digits[index + 1] ?? 0) ? -digit : digit), 0);
}
