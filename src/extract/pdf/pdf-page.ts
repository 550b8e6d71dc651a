import type { Pdfium } from "./pdfium.ts";

/** A line as it is printed. Lengths are in points, heights above the lower edge of the page. */
export type Line = {
  /** Words with single blanks; a tab where there is a gap as between columns. */
  readonly text: string;
  readonly left: number;
  readonly right: number;
  /** Where in the text, and on the page, what comes after a wide blank begins: perhaps a column. */
  readonly stops: readonly Stop[];
  readonly baseline: number;
  /** Of its last letter: what PDFium takes for one line may be two. */
  readonly lastBaseline: number;
  /** Of its letters. */
  readonly size: number;
  /** Every letter has the same width, as in programs. */
  readonly isFixed: boolean;
  readonly isBold: boolean;
  /** Ends in the middle of a word; the hyphen is not in the text. */
  readonly isBroken: boolean;
};

export type Stop = { readonly at: number; readonly left: number };

export type PdfPage = {
  readonly width: number;
  readonly height: number;
  /** In the order in which they stand in the file, which is that of a reader in all but odd files. */
  readonly lines: readonly Line[];
  readonly images: number;
  /** Nothing at all is on it. */
  readonly isBlank: boolean;
  /** More characters than one page may have: the rest of it is left out. */
  readonly isCut: boolean;
};

/** A page of a book has 3,000; a page that somebody made to be large would cost minutes. */
const pageCharactersMax = 2_000_000;
const objectsMax = 200_000;

export function readPage(pdfium: Pdfium, document: number, index: number): PdfPage | undefined {
  const { call } = pdfium;
  const page = call("FPDF_LoadPage", document, index);
  if (page === 0) return undefined;
  const text = call("FPDFText_LoadPage", page);
  const count = text === 0 ? 0 : call("FPDFText_CountChars", text);
  const taken = Math.min(Math.max(count, 0), pageCharactersMax);
  const read = {
    width: call("FPDF_GetPageWidthF", page),
    height: call("FPDF_GetPageHeightF", page),
    lines: joinedLines(linesOf(pdfium, text, taken)),
    ...objectsOn(pdfium, page),
    isCut: taken < count,
  };
  if (text !== 0) call("FPDFText_ClosePage", text);
  call("FPDF_ClosePage", page);
  return read;
}

function objectsOn({ call, quick }: Pdfium, page: number): Pick<PdfPage, "images" | "isBlank"> {
  const count = Math.min(call("FPDFPage_CountObjects", page), objectsMax);
  let images = 0;
  for (let index = 0; index < count; index += 1)
    if (quick.objectType(quick.objectAt(page, index)) === imageType) images += 1;
  return { images, isBlank: count <= 0 };
}

const imageType = 3;

function linesOf(pdfium: Pdfium, text: number, count: number): Line[] {
  if (count === 0) return [];
  const written = textOf(pdfium, text, count);
  const isWide = /[\ud800-\udfff]/.test(written);
  const lines: Line[] = [];
  // PDFium counts characters, JavaScript halves of those beyond the first 65,536.
  let counted = 0;
  for (let start = 0; start < written.length; ) {
    const feed = written.indexOf("\n", start);
    const end = feed === -1 ? written.length : feed;
    const characters = isWide ? [...written.slice(start, end)] : written.slice(start, end);
    const line = lineOf(pdfium, text, { characters, at: counted });
    if (line !== undefined) lines.push(line);
    counted += characters.length + 1;
    start = end + 1;
  }
  return lines;
}

function textOf({ call, memory }: Pdfium, text: number, count: number): string {
  const bytes = (count + 1) * 4;
  const place = call("malloc", bytes);
  if (place === 0) return "";
  const units = call("FPDFText_GetText", text, 0, count, place);
  const written = Buffer.from(memory.buffer, place, Math.max(units - 1, 0) * 2).toString("utf16le");
  call("free", place);
  return written;
}

/** `at`: where it begins in the text of the page, in characters. */
type Written = { readonly characters: Characters; readonly at: number };
/** One by one; a list where some of them are two halves. */
type Characters = string | readonly string[];

function lineOf(pdfium: Pdfium, text: number, { characters, at }: Written): Line | undefined {
  const first = nextShown(characters, 0);
  if (first >= characters.length) return undefined;
  const last = lastShown(characters);
  const begin = pdfium.quick.charIndex(text, at + first);
  const end = pdfium.quick.charIndex(text, at + last);
  // PDFium counts what is not shown as well; mostly there is nothing of it within a line.
  const isStraight = begin >= 0 && end - begin === last - first;
  const place = (index: number) => (isStraight ? begin + index - first : pdfium.quick.charIndex(text, at + index));
  const head = boxOf(pdfium, text, begin);
  const tail = boxOf(pdfium, text, end);
  const size = sizeOf(pdfium, text, begin, head);
  const middle = nextShown(characters, Math.ceil((first + last) / 2));
  const font = fontOf(pdfium, text, [begin, place(middle), end]);
  let words = "";
  const stops: Stop[] = [];
  for (let from = first; from <= last; ) {
    const to = nextBlank(characters, from);
    words += wordIn(characters, from, to);
    if (to > last) break;
    from = nextShown(characters, to);
    const left = sideOf(pdfium, text, place(from), leftSide);
    const gap = left - sideOf(pdfium, text, place(to - 1), rightSide);
    words += font.isFixed ? blanks(gap, size) : gap > gapSizesMin * size ? "\t" : " ";
    if (gap > stopSizesMin * size && !font.isFixed) stops.push({ at: words.length, left });
  }
  return {
    ...{ text: words.trimEnd(), left: head.left, right: tail.right, stops },
    ...{ baseline: head.baseline, lastBaseline: tail.baseline, size, ...font, isBroken: characters[last] === broken },
  };
}

/** The width of a letter in programs, in heights of a letter. */
export const fixedWidth = 0.6;
const blanksMax = 120;

function blanks(gap: number, size: number): string {
  const count = Math.round(gap / (fixedWidth * size));
  return " ".repeat(Math.min(Math.max(count, 1), blanksMax));
}

/** PDFium writes it in place of a hyphen that stands there only for the end of the line. */
const broken = "\ufffe";

/** Asked for every character of a file: plain letters, kana and Chinese are told without a pattern. */
function isShown(character: string): boolean {
  const code = character.charCodeAt(0);
  if ((code > 0x20 && code < 0x7f) || (code >= 0x3041 && code <= 0x9fff)) return true;
  return character === broken || !/[\s\p{Cc}]/u.test(character);
}

/** From there on; behind the end where there is none. */
function nextShown(characters: Characters, from: number): number {
  let index = from;
  while (index < characters.length && !isShown(characters[index] ?? "")) index += 1;
  return index;
}

function nextBlank(characters: Characters, from: number): number {
  let index = from;
  while (index < characters.length && isShown(characters[index] ?? "")) index += 1;
  return index;
}

function wordIn(characters: Characters, from: number, to: number): string {
  const word = typeof characters === "string" ? characters.slice(from, to) : characters.slice(from, to).join("");
  return word.includes(broken) ? word.replaceAll(broken, "") : word;
}

function lastShown(characters: Characters): number {
  let index = characters.length - 1;
  while (index > 0 && !isShown(characters[index] ?? "")) index -= 1;
  return index;
}

/** In letters' heights: no blank of a justified line is so wide. */
const gapSizesMin = 1.8;
/** What is narrower separates words and nothing else. */
const stopSizesMin = 0.55;

/** Where the sides of a character stand in the scratch place. */
const [leftSide, rightSide] = [0, 1];

function sideOf({ quick, scratch, scratchNumbers }: Pdfium, text: number, index: number, side: number): number {
  if (index < 0) return 0;
  quick.charBox(text, index, scratch, scratch + 8, scratch + 16, scratch + 24);
  return scratchNumbers()[side] ?? 0;
}

type Box = { readonly left: number; readonly right: number; readonly baseline: number; readonly height: number };

function boxOf({ call, quick, scratch, scratchNumbers }: Pdfium, text: number, index: number): Box {
  if (index < 0) return { left: 0, right: 0, baseline: 0, height: 0 };
  quick.charBox(text, index, scratch, scratch + 8, scratch + 16, scratch + 24);
  call("FPDFText_GetCharOrigin", text, index, scratch + 32, scratch + 40);
  const [left = 0, right = 0, bottom = 0, top = 0, , baseline = 0] = scratchNumbers();
  return { left, right, baseline, height: top - bottom };
}

/** As printed: some files write letters of size one and stretch them by a matrix. */
function sizeOf({ call, memory, scratch }: Pdfium, text: number, index: number, { height }: Box): number {
  if (index < 0) return 0;
  const nominal = call("FPDFText_GetFontSize", text, index);
  const isKnown = call("FPDFText_GetMatrix", text, index, scratch) !== 0;
  const view = new DataView(memory.buffer, scratch, 24);
  const stretch = isKnown ? Math.hypot(view.getFloat32(8, true), view.getFloat32(12, true)) : 1;
  const size = nominal * stretch;
  return Math.round((Number.isFinite(size) && size > 0 ? size : height) * 10) / 10;
}

const fixedFlag = 1;
const fontNameBytes = 256;

/** A line is of a kind when its ends and its middle are: single words of it may be of any. */
function fontOf(pdfium: Pdfium, text: number, places: readonly number[]): Font {
  let [isFixed, isBold] = [true, true];
  for (const place of places) {
    const font = fontAt(pdfium, text, place);
    [isFixed, isBold] = [isFixed && font.isFixed, isBold && font.isBold];
    if (!isFixed && !isBold) break;
  }
  return { isFixed, isBold };
}

type Font = Pick<Line, "isFixed" | "isBold">;

function fontAt({ call, memory, scratch }: Pdfium, text: number, index: number): Font {
  if (index < 0) return { isFixed: false, isBold: false };
  const length = call("FPDFText_GetFontInfo", text, index, scratch, fontNameBytes, scratch + fontNameBytes);
  const flags = new DataView(memory.buffer, scratch + fontNameBytes, 4).getInt32(0, true);
  const isNamed = length > 1 && length <= fontNameBytes;
  const name = isNamed ? Buffer.from(memory.buffer, scratch, length - 1).toString("latin1") : "";
  return {
    isFixed: (flags & fixedFlag) !== 0 || /mono|courier|consol|cmtt|typewriter|[_-]tt\b/i.test(name),
    isBold: /bold|black|heavy|cmbx|demi/i.test(name),
  };
}

/** What is raised or lowered stands on a line of its own for PDFium; a mark of a list often does too. */
function joinedLines(lines: readonly Line[]): Line[] {
  const joined: Line[] = [];
  for (const line of lines) {
    const before = joined.at(-1);
    if (before !== undefined && isSameLine(before, line)) joined[joined.length - 1] = together(before, line);
    else joined.push(line);
  }
  return joined;
}

const sameLineSizesMax = 0.45;
const backStepSizesMax = 0.3;

function isSameLine(before: Line, line: Line): boolean {
  const size = Math.max(before.size, line.size);
  return (
    Math.abs(before.baseline - line.baseline) < sameLineSizesMax * size &&
    line.left > before.right - backStepSizesMax * size &&
    !before.isBroken
  );
}

function together(before: Line, line: Line): Line {
  const gap = line.left - before.right;
  const main = before.text.length >= line.text.length ? before : line;
  const between = gap > gapSizesMin * main.size ? "\t" : gap > 0.12 * main.size ? " " : "";
  const moved = before.text.length + between.length;
  const { size, baseline, isFixed, isBold } = main;
  return {
    ...{ text: `${before.text}${between}${line.text}`, left: before.left, right: line.right },
    stops: [
      ...before.stops,
      ...(gap > stopSizesMin * main.size ? [{ at: moved, left: line.left }] : []),
      ...line.stops.map(({ at, left }) => ({ at: at + moved, left })),
    ],
    ...{ size, baseline, lastBaseline: baseline, isFixed, isBold, isBroken: line.isBroken },
  };
}
