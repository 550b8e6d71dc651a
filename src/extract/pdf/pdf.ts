import { failed, ok } from "../../base/result.ts";
import type { Extracted, Place } from "../extracted.ts";
import { finish } from "../finish.ts";
import { charactersMax, pagesMax } from "../limits.ts";
import { type Losses, openLosses } from "../losses.ts";
import type { Reader, Reading } from "../reading.ts";
import { isContentsPage } from "./contents-pages.ts";
import { bodySize, bookmarkedHeadings, type Heading, printedHeadings, sizeLevels } from "./headings.ts";
import { blocksOf, type Piece } from "./page-blocks.ts";
import { type Bookmark, openPdf, type PdfDocument } from "./pdf-document.ts";
import type { Line, PdfPage } from "./pdf-page.ts";
import type { Pdfium } from "./pdfium.ts";
import { runningHeads } from "./running-heads.ts";

/** Pages as they were read, each with where it is. */
type PlacedPage = PdfPage & { readonly place: Place };

/** A reader of PDFs on one PDFium, which stays loaded. */
export function pdfReader(pdfium: Pdfium): Reader {
  return ({ bytes }, reading) => {
    const before = pdfium.refusals();
    try {
      return Promise.resolve(readWith(pdfium, bytes, reading));
    } catch (error) {
      // It cannot be used any more, as its thread cannot where the heap is full.
      const isFull = pdfium.refusals() > before;
      throw isFull ? Object.assign(new Error("PDFium has no memory left"), { code: outOfMemory }) : error;
    }
  };
}

/** As Node says it of a thread. */
const outOfMemory = "ERR_WORKER_OUT_OF_MEMORY";

function readWith(pdfium: Pdfium, bytes: Uint8Array, reading: Reading): Awaited<ReturnType<Reader>> {
  const document = openPdf(pdfium, bytes);
  if (document === "password" || document === "memory") return failed({ why: document });
  if (document === "damaged") return failed({ why: "damaged", type: "PDF" });
  const read = readDocument(document, reading);
  document.close();
  return ok(read);
}

function readDocument(document: PdfDocument, reading: Reading): Extracted {
  const losses = openLosses();
  const { pages, stopped } = readPages(document, losses, reading);
  const heads = runningHeads(pages);
  for (const { place, lines, isBlank } of pages) {
    if (lines.length === 0 && !isBlank) losses.add("pages_without_text", place);
    if (lines.some((line) => heads.has(line))) losses.add("running_heads", place);
  }
  return finish({
    ...{ format: "pdf", losses, title: document.title },
    blocks: blocksOf(allPieces(pages, heads, document.bookmarks())),
    parts: { kind: "page", count: document.pageCount },
    images: pages.reduce((sum, { images }) => sum + images, 0),
    ...(stopped === undefined ? {} : { stopped }),
  });
}

/** Page for page, as far as the limits go. */
function readPages(document: PdfDocument, losses: Losses, { onProgress }: Reading) {
  const pages: PlacedPage[] = [];
  let characters = 0;
  for (let index = 0; index < document.pageCount; index += 1) {
    const place = placeOfPage(document, index);
    const limit = index >= pagesMax ? "pages" : characters > charactersMax ? "characters" : undefined;
    if (limit !== undefined) return { pages, stopped: { limit, at: place } };
    const page = document.page(index);
    if (page === undefined) losses.add("damaged_pages", place);
    else pages.push({ ...page, place });
    if (page?.isCut) losses.add("pages_cut", place);
    for (const { text } of page?.lines ?? []) characters += text.length;
    onProgress({ done: index + 1, total: document.pageCount });
  }
  return { pages, stopped: undefined };
}

function placeOfPage(document: PdfDocument, index: number): Place {
  const label = document.label(index);
  const page = index + 1;
  return label === "" || label === String(page) ? { page } : { page, pageLabel: label };
}

function allPieces(pages: readonly PlacedPage[], heads: ReadonlySet<Line>, bookmarks: readonly Bookmark[]): Piece[] {
  const bodies = pages.map(({ lines }) => lines.filter((line) => !heads.has(line)));
  const findHeadings = headingFinder(bodies, bookmarks);
  const isTitle = titleTest(bookmarks);
  return pages.flatMap((page, index) => {
    const lines = bodies[index] ?? [];
    const headings = findHeadings(page, lines);
    return isContentsPage(lines, isTitle) ? contentsPieces(page, lines, headings) : piecesOf(page, lines, headings);
  });
}

type HeadingFinder = (page: PlacedPage, lines: readonly Line[]) => readonly Heading[];

/** Fewer bookmarks say nothing about the parts of a file of many pages. */
const pagesByBookmarkMax = 20;

function headingFinder(bodies: readonly (readonly Line[])[], bookmarks: readonly Bookmark[]): HeadingFinder {
  const byPage = Map.groupBy(bookmarks, ({ page }) => page);
  if (bookmarks.length > 0 && bookmarks.length * pagesByBookmarkMax >= bodies.length)
    return ({ place }, lines) => bookmarkedHeadings(lines, byPage.get((place.page ?? 0) - 1) ?? []);
  const all = bodies.flat();
  const body = bodySize(all);
  const levels = sizeLevels(all, body);
  return (_, lines) => printedHeadings(lines, body, levels);
}

function titleTest(bookmarks: readonly Bookmark[]): (words: string) => boolean {
  const fold = (words: string) =>
    words
      .normalize("NFKC")
      .toLowerCase()
      .replaceAll(/[^\p{L}]+/gu, "");
  const titles = new Set(bookmarks.map(({ title }) => fold(title)));
  return (words) => fold(words) !== "" && titles.has(fold(words));
}

function contentsPieces({ place }: PlacedPage, lines: readonly Line[], headings: readonly Heading[]): Piece[] {
  const titles = headings.map(({ text, level }): Piece => ({ kind: "heading", text, level, place }));
  const printed = new Set(headings.flatMap((heading) => heading.lines));
  return [...titles, { kind: "contents", lines: lines.filter((line) => !printed.has(line)), place }];
}

function piecesOf({ place }: PlacedPage, lines: readonly Line[], headings: readonly Heading[]): Piece[] {
  const starts = new Map<Line | undefined, Heading[]>();
  for (const heading of headings) {
    const line = heading.lines[0] ?? heading.before;
    starts.set(line, [...(starts.get(line) ?? []), heading]);
  }
  const printed = new Set(headings.flatMap((heading) => heading.lines));
  const right = rightEdge(lines);
  const pieceOf = ({ text, level }: Heading): Piece => ({ kind: "heading", text, level, place });
  return [
    ...lines.flatMap((line): Piece[] => {
      const before = (starts.get(line) ?? []).map(pieceOf);
      return printed.has(line) ? before : [...before, { kind: "line", line, place, right }];
    }),
    ...(starts.get(undefined) ?? []).map(pieceOf),
  ];
}

/** Where full lines end; single ones may stand out. */
const fullLinesShare = 0.9;

function rightEdge(lines: readonly Line[]): number {
  const rights = lines.map(({ right }) => right).toSorted((one, other) => one - other);
  return rights[Math.floor((rights.length - 1) * fullLinesShare)] ?? 0;
}
