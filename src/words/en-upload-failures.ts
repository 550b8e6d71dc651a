import { sizeText } from "./sizes.ts";

/** What can go wrong with files of a sandbox session over HTTP: what happened, and what a person can do. */
export const enUploadFailures = {
  conversation_not_named: () => [
    "The request does not say which conversation the file belongs to.",
    "Send conversation_id as a form field, in the query or as a header, or a path that begins with it, such as c1/uploads/temparea/data.csv.",
  ],
  file_ambiguous: (p: { name: string; conversations: string }) => [
    `There is a file ${p.name} in several conversations: ${p.conversations}.`,
    "Say which one you mean by conversation_id.",
  ],
  form_unfit: (p: { why: FormFault }) => [
    `The form cannot be used: ${formFaults[p.why]}.`,
    "Send multipart/form-data with one part named file, and conversation_id beside it.",
  ],
  archive_unfit: (p: { name: string; entry: string; why: ArchiveFault }) => [
    `${p.name} cannot be unpacked: ${p.entry === "" ? "" : `${p.entry}: `}${archiveFaults[p.why]}.`,
    "Make another ZIP file, or upload it without extract.",
  ],
  archive_too_large: (p: { name: string; what: ArchiveLimit; limit: number }) => [
    `${p.name} is too large to be packed or unpacked: the limit is ${archiveLimit(p)}.`,
    "Take it in smaller parts.",
  ],
  upload_not_found: (p: { id: string }) => [
    `There is no upload ${p.id}.`,
    "It may have ended or be too old. Begin it anew.",
  ],
  upload_offset_unfit: (p: { offset: number; have: number }) => [
    `The upload has ${p.have} bytes, so it cannot go on at ${p.offset}.`,
    "Ask where it stands with HEAD, and go on from there.",
  ],
  upload_checksum_unfit: (p: { name: string; expected: string; actual: string }) => [
    `${p.name} did not arrive as it was sent: its sha256 is ${p.actual} and not ${p.expected}.`,
    "It was dropped. Begin the upload anew.",
  ],
  upload_version_unfit: (p: { version: string }) => [
    "This is not the version of tus that is spoken here.",
    `Send the header Tus-Resumable: ${p.version}.`,
  ],
  uploads_too_many: (p: { limit: number }) => [
    `You have ${p.limit} uploads that are not whole, and that is the limit.`,
    "Go on with one of them, or delete it; each goes by itself after a day.",
  ],
} satisfies Record<string, (params: never) => [what: string, next: string]>;

export type FormFault =
  | "no_boundary"
  | "broken"
  | "no_file"
  | "several_files"
  | "too_many_parts"
  | "field_too_long"
  | "broken_off";
const formFaults: Readonly<Record<FormFault, string>> = {
  no_boundary: "its content type names no boundary",
  broken: "it is not multipart/form-data",
  no_file: "it has no file",
  several_files: "it has more than one file",
  too_many_parts: "it has too many parts",
  field_too_long: "one of its fields is too long",
  broken_off: "it breaks off before its end",
};

export type ArchiveFault = "broken" | "link" | "path" | "encrypted" | "method";
const archiveFaults: Readonly<Record<ArchiveFault, string>> = {
  broken: "it is not a whole ZIP file",
  link: "it is a link",
  path: "the name leads out of the folder or cannot be used",
  encrypted: "it is encrypted",
  method: "it is compressed in a way that we do not know",
};

export type ArchiveLimit = "files" | "bytes" | "ratio";

function archiveLimit({ what, limit }: { what: ArchiveLimit; limit: number }): string {
  if (what === "bytes") return `${sizeText(limit, ({ count }) => `${count} bytes`)} of content`;
  return what === "files" ? `${limit} files` : `${limit} bytes of content for each byte of the archive`;
}
