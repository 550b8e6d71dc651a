import { sizeText } from "./sizes.ts";

/** What can go wrong when a document is read: what happened, and what a person can do. */
export const enDocumentFailures = {
  document_locked: (p: { name: string; why: "password" | "rights" }) => [
    p.why === "password"
      ? `${p.name} can only be opened with a password.`
      : `${p.name} is protected by rights management (DRM), so that other programs cannot read it.`,
    p.why === "password"
      ? "Save a copy without a password in the program that made it, and use that."
      : "Use a copy without this protection, if you have one.",
  ],
  document_damaged: (p: { name: string; type: string }) => [
    `${p.name} cannot be read as ${p.type}: it is damaged or not whole.`,
    "Send it again, or open it in the program that made it and save it anew.",
  ],
  document_unknown: (p: { name: string; type: string }) => [
    `${p.name} is no document that can be read here (${p.type}).`,
    "Read are PDF, DOCX, XLSX, PPTX, HTML, Markdown, CSV, EPUB and text. Save old Office files (doc, xls, ppt) in the new format.",
  ],
  document_too_large: (p: { name: string; sizeBytes: number; limitBytes: number }) => [
    `${p.name} has ${size(p.sizeBytes)}; documents of up to ${size(p.limitBytes)} are read.`,
    "Divide it, and use the parts that you need.",
  ],
  document_too_slow: (p: { name: string; seconds: number }) => [
    `${p.name} was not read within ${p.seconds} seconds.`,
    "It is very large or made in an odd way. Divide it, or save it anew in the program that made it.",
  ],
  document_too_costly: (p: { name: string }) => [
    `${p.name} would need more memory than a document may have.`,
    "Divide it, or save it anew in the program that made it.",
  ],
  document_reader_crashed: (p: { name: string }) => [
    `${p.name} could not be read: its reader broke down.`,
    "Other files are not affected. Save it anew in the program that made it; the operator has the details in the log file.",
  ],
  document_stopped: (p: { name: string }) => [
    `${p.name} was not read to its end.`,
    "It was stopped. Ask for it again.",
  ],
} satisfies Record<string, (params: never) => [what: string, next: string]>;

function size(bytes: number): string {
  return sizeText(bytes, ({ count }) => `${count} bytes`);
}
