import { failed, ok, type Result } from "../../base/result.ts";
import { decodeText } from "../decode.ts";
import type { Extracted, Format } from "../extracted.ts";
import { openLosses } from "../losses.ts";
import { binaryEndings } from "../magic.ts";
import { readDocx } from "../office/docx.ts";
import { readPptx } from "../office/pptx.ts";
import { readXlsx } from "../office/xlsx.ts";
import { openArchive } from "../packed/archive.ts";
import { readEpub } from "../pages/epub.ts";
import { readHtml } from "../pages/html.ts";
import { pdfReader } from "../pdf/pdf.ts";
import { loadPdfium } from "../pdf/pdfium.ts";
import { readCsv } from "../plain/csv.ts";
import { readMarkdown } from "../plain/markdown.ts";
import { readText } from "../plain/text.ts";
import type { Reader, Source, Unreadable } from "../reading.ts";

const readers = {
  ...{ docx: readDocx, xlsx: readXlsx, pptx: readPptx, epub: readEpub },
  ...{ html: readHtml, markdown: readMarkdown, csv: readCsv, text: readText },
};

/** Reads what its bytes say it is. Costly, and a file may be hostile: it runs in a thread of its own. */
export function openReader(): Reader {
  let pdf: Promise<Reader> | undefined;
  return async (source, reading) => {
    const format = formatOf(source);
    if (!format.ok) return format;
    pdf = format.value === "pdf" ? (pdf ?? loadPdfium().then(pdfReader)) : pdf;
    const read =
      format.value === "pdf" && pdf !== undefined ? await pdf : readers[format.value === "pdf" ? "text" : format.value];
    const found = await read(source, reading);
    return found.ok ? ok(compared(found.value, source.name)) : found;
  };
}

const headBytes = 65_536;
const pdfHeadBytes = 1_024;

/** The bytes decide; the name chooses among what they allow. */
function formatOf({ name, bytes }: Source): Result<Format, Unreadable> {
  const head = bytes.subarray(0, headBytes);
  // PDFium looks for the mark in the first kilobyte as well: some programs write something in front.
  if (Buffer.from(head.subarray(0, pdfHeadBytes)).includes("%PDF-")) return ok("pdf");
  const [binary] = binaryEndings(head) ?? [];
  const named = endingOf(name);
  if (bytes.length === 0 && isPacked(named)) return failed({ why: "damaged", type: named.toUpperCase() });
  if (binary === "ole")
    return failed(isEncryptedOffice(bytes) ? { why: "password" } : { why: "unknown", type: oldType(named) });
  if (Buffer.from(head.subarray(0, 4)).equals(zipMark)) return packedFormat(bytes, named, binary ?? "zip");
  if (binary !== undefined) return failed({ why: "unknown", type: binary });
  const text = decodeText(head, { isCut: bytes.length > head.length })?.text;
  if (text === undefined) return failed({ why: "unknown", type: "binary" });
  if (text.startsWith("{\\rtf")) return failed({ why: "unknown", type: "rtf" });
  return ok(textFormats.get(named) ?? (looksLikeHtml.test(text) ? "html" : "text"));
}

const zipMark = Buffer.from("PK\x03\x04", "latin1");
const looksLikeHtml = /^\s*(?:<\?xml[^>]*>\s*)?(?:<!doctype html|<html[\s>])/i;
const textFormats = new Map<string, Format>([
  ...(["html", "htm", "xhtml"] as const).map((name) => [name, "html"] as const),
  ...(["md", "markdown"] as const).map((name) => [name, "markdown"] as const),
  ...(["csv", "tsv"] as const).map((name) => [name, "csv"] as const),
]);
const packedFolders: readonly (readonly [prefix: string, format: Format])[] = [
  ["word/", "docx"],
  ["xl/", "xlsx"],
  ["ppt/", "pptx"],
];

function endingOf(name: string): string {
  return /\.([^./]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
}

function packedFormat(bytes: Uint8Array, named: string, binary: string): Result<Format, Unreadable> {
  const archive = openArchive(bytes, openLosses());
  if (archive === "password") return failed({ why: "password" });
  if (typeof archive === "string")
    return failed({ why: "damaged", type: isPacked(named) ? named.toUpperCase() : "ZIP" });
  if (archive.has("META-INF/container.xml")) return ok("epub");
  const inside = packedFolders.find(([prefix]) => archive.names.some((part) => part.toLowerCase().startsWith(prefix)));
  if (inside !== undefined) return ok(inside[1]);
  // Its main part may stand anywhere; one that calls itself so is looked at, and is damaged if it has none.
  const format = officeNames.get(named);
  return format === undefined || !archive.has("[Content_Types].xml")
    ? failed({ why: "unknown", type: binary })
    : ok(format);
}

const officeNames = new Map<string, Format>((["docx", "xlsx", "pptx", "epub"] as const).map((name) => [name, name]));

/** An empty file of this name was cut off. */
function isPacked(named: string): boolean {
  return named === "pdf" || officeNames.has(named);
}

/** New Office files with a password are wrapped in an old one. */
function isEncryptedOffice(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(
    Buffer.from("EncryptedPackage", "utf16le"),
  );
}

function oldType(named: string): string {
  return ["doc", "xls", "ppt", "msg"].includes(named) ? named : "old Office";
}

const endings: Readonly<Record<Format, readonly string[]>> = {
  ...{ pdf: ["pdf"], docx: ["docx", "docm", "dotx", "dotm"], xlsx: ["xlsx", "xlsm", "xltx", "xltm"] },
  ...{ pptx: ["pptx", "pptm", "ppsx", "potx"], html: ["html", "htm", "xhtml"], markdown: ["md", "markdown"] },
  ...{ csv: ["csv", "tsv"], epub: ["epub"], text: [] },
};
const promised = new Set(Object.values(endings).flat());

/** Where the name promises something else, the receipt says so. */
function compared(found: Extracted, name: string): Extracted {
  const ending = endingOf(name);
  if (!promised.has(ending) || endings[found.format].includes(ending)) return found;
  const { receipt } = found;
  return {
    ...found,
    receipt: { ...receipt, losses: [...receipt.losses, { kind: "type_differs", count: 1, places: [] }] },
  };
}
