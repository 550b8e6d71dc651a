import { type PdfPage, readPage } from "./pdf-page.ts";
import { type Pdfium, scratchBytes, utf16 } from "./pdfium.ts";

export type PdfDocument = {
  readonly pageCount: number;
  readonly title: string;
  /** As it is printed on the page; empty where the file does not say. */
  label(index: number): string;
  /** Undefined where the page cannot be read. */
  page(index: number): PdfPage | undefined;
  /** In the order of a reader; the file's own table of contents. */
  bookmarks(): readonly Bookmark[];
  close(): void;
};

export type Bookmark = {
  readonly title: string;
  /** From 1 on. */
  readonly level: number;
  /** From 0 on. */
  readonly page: number;
  /** Height above the lower edge of the page, in points; undefined where only the page is named. */
  readonly height: number | undefined;
};

/** What PDFium says of a file that it does not open. */
export type OpenFault = "password" | "damaged" | "memory";

export function openPdf(pdfium: Pdfium, bytes: Uint8Array): PdfDocument | OpenFault {
  const { call, memory } = pdfium;
  const place = call("malloc", bytes.length);
  if (place === 0) return "memory";
  new Uint8Array(memory.buffer).set(bytes, place);
  const document = call("FPDF_LoadMemDocument", place, bytes.length, 0);
  if (document === 0) {
    const fault = call("FPDF_GetLastError");
    call("free", place);
    return fault === errors.password || fault === errors.security ? "password" : "damaged";
  }
  return {
    pageCount: call("FPDF_GetPageCount", document),
    title: metaText(pdfium, document, "Title"),
    label: (index) => utf16(pdfium, (at, size) => call("FPDF_GetPageLabel", document, index, at, size)),
    page: (index) => readPage(pdfium, document, index),
    bookmarks: () => [...bookmarksBelow(pdfium, document, { bookmark: 0, level: 0 }, new Set())],
    close() {
      call("FPDF_CloseDocument", document);
      call("free", place);
    },
  };
}

const errors = { password: 4, security: 5 };

function metaText(pdfium: Pdfium, document: number, tag: string): string {
  const name = new TextEncoder().encode(`${tag}\0`);
  const place = pdfium.call("malloc", name.length);
  new Uint8Array(pdfium.memory.buffer).set(name, place);
  const text = utf16(pdfium, (at, size) => pdfium.call("FPDF_GetMetaText", document, place, at, size));
  pdfium.call("free", place);
  return text;
}

/** Such trees can lead in circles, and be as large as somebody likes. */
const levelsMax = 20;
const bookmarksMax = 20_000;

/** Siblings one after the other, their children between them; not a call for each, as there may be many siblings. */
function* bookmarksBelow(
  pdfium: Pdfium,
  document: number,
  above: { readonly bookmark: number; readonly level: number },
  seen: Set<number>,
): Generator<Bookmark, void> {
  const { call } = pdfium;
  const level = above.level + 1;
  if (level > levelsMax) return;
  for (
    let bookmark = call("FPDFBookmark_GetFirstChild", document, above.bookmark);
    bookmark !== 0 && !seen.has(bookmark) && seen.size < bookmarksMax;
    bookmark = call("FPDFBookmark_GetNextSibling", document, bookmark)
  ) {
    seen.add(bookmark);
    const title = utf16(pdfium, (at, size) => call("FPDFBookmark_GetTitle", bookmark, at, size));
    const target = targetOf(pdfium, document, bookmark);
    if (target !== undefined && title.trim() !== "") yield { title, level, ...target };
    yield* bookmarksBelow(pdfium, document, { bookmark, level }, seen);
  }
}

function targetOf(pdfium: Pdfium, document: number, bookmark: number): Pick<Bookmark, "page" | "height"> | undefined {
  const { call, memory, scratch } = pdfium;
  const own = call("FPDFBookmark_GetDest", document, bookmark);
  const action = own === 0 ? call("FPDFBookmark_GetAction", bookmark) : 0;
  const target = action === 0 ? own : call("FPDFAction_GetDest", document, action);
  if (target === 0) return undefined;
  const page = call("FPDFDest_GetDestPageIndex", document, target);
  if (page < 0) return undefined;
  new Uint8Array(memory.buffer, scratch, scratchBytes).fill(0, 0, 24);
  const isKnown = call(
    "FPDFDest_GetLocationInPage",
    target,
    scratch,
    scratch + 4,
    scratch + 8,
    scratch + 12,
    scratch + 16,
    scratch + 20,
  );
  const view = new DataView(memory.buffer, scratch, 24);
  const hasHeight = isKnown !== 0 && view.getInt32(4, true) !== 0;
  return { page, height: hasHeight ? view.getFloat32(16, true) : undefined };
}
