import { failed } from "../base/result.ts";
import { pdfReader } from "./pdf/pdf.ts";
import { loadPdfium } from "./pdf/pdfium.ts";
import type { Reader } from "./reading.ts";

/** Reads what its bytes say it is. Costly, and a file may be hostile: it runs in a thread of its own. */
export function openReader(): Reader {
  let pdf: Promise<Reader> | undefined;
  return async (source, reading) => {
    if (!isPdf(source.bytes)) return failed({ why: "unknown", type: "unknown" });
    pdf ??= loadPdfium().then(pdfReader);
    return (await pdf)(source, reading);
  };
}

const pdfHeadBytes = 1_024;

/** PDFium looks for the mark in the first kilobyte as well. */
function isPdf(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, pdfHeadBytes)).includes("%PDF-");
}
