import { decodeText } from "../extract/decode.ts";
import { binaryEndings } from "../extract/magic.ts";

export type FileType = {
  /** For people and models: `pdf`, `spreadsheet`, `csv`, `python`, `image` …, or `unknown`. */
  readonly type: string;
  readonly isText: boolean;
  readonly mime: string | undefined;
  /** The ending that goes with the content, in one spelling: `jpg` also for `.jpeg`; empty where there is none. */
  readonly ending: string;
};

/** Bytes that are enough to tell a type: the names of a document's first parts are among them. */
export const typeHeadBytes = 65_536;

/** What a file is: its first bytes decide, the name chooses among what they allow. */
export function fileTypeOf(name: string, head: Uint8Array): FileType {
  const named = plainEnding(/[^.]\.([^.]+)$/.exec(name)?.[1] ?? "");
  const endings = binaryEndings(head);
  if (endings !== undefined) {
    const ending = endings.includes(named) ? named : (endings[0] ?? "");
    const [type, mime] = binaryTypes[ending] ?? ["unknown", undefined];
    return { type, isText: false, mime, ending };
  }
  if (decodeText(head, { isCut: true }) === undefined)
    return { type: "unknown", isText: false, mime: undefined, ending: "" };
  const [type, mime] = textTypes[named] ?? ["text", "text/plain"];
  return { type, isText: true, mime, ending: named in binaryTypes && !(named in textTypes) ? "" : named };
}

/** What a name promises; the content may be something else. */
export function typeOfName(name: string): string {
  const named = plainEnding(/[^.]\.([^.]+)$/.exec(name)?.[1] ?? "");
  return (binaryTypes[named] ?? textTypes[named])?.[0] ?? "unknown";
}

/** An ending in the one spelling that types are compared in. */
export function plainEnding(ending: string): string {
  const written = ending.toLowerCase().replace(/^\./, "");
  return otherSpellings[written] ?? written;
}

const otherSpellings: Readonly<Record<string, string>> = {
  jpeg: "jpg",
  tiff: "tif",
  htm: "html",
  markdown: "md",
  yml: "yaml",
  pickle: "pkl",
  jsonl: "ndjson",
};

type Named = readonly [type: string, mime: string | undefined];
const office = "application/vnd.openxmlformats-officedocument";
const open = "application/vnd.oasis.opendocument";

const binaryTypes: Readonly<Record<string, Named>> = {
  pdf: ["pdf", "application/pdf"],
  docx: ["document", `${office}.wordprocessingml.document`],
  docm: ["document", "application/vnd.ms-word.document.macroEnabled.12"],
  dotx: ["document", `${office}.wordprocessingml.template`],
  doc: ["document", "application/msword"],
  odt: ["document", `${open}.text`],
  xlsx: ["spreadsheet", `${office}.spreadsheetml.sheet`],
  xlsm: ["spreadsheet", "application/vnd.ms-excel.sheet.macroEnabled.12"],
  xlsb: ["spreadsheet", "application/vnd.ms-excel.sheet.binary.macroEnabled.12"],
  xltx: ["spreadsheet", `${office}.spreadsheetml.template`],
  xls: ["spreadsheet", "application/vnd.ms-excel"],
  ods: ["spreadsheet", `${open}.spreadsheet`],
  pptx: ["presentation", `${office}.presentationml.presentation`],
  pptm: ["presentation", "application/vnd.ms-powerpoint.presentation.macroEnabled.12"],
  potx: ["presentation", `${office}.presentationml.template`],
  ppt: ["presentation", "application/vnd.ms-powerpoint"],
  odp: ["presentation", `${open}.presentation`],
  epub: ["ebook", "application/epub+zip"],
  msg: ["mail", "application/vnd.ms-outlook"],
  png: ["image", "image/png"],
  jpg: ["image", "image/jpeg"],
  gif: ["image", "image/gif"],
  webp: ["image", "image/webp"],
  bmp: ["image", "image/bmp"],
  tif: ["image", "image/tiff"],
  ico: ["image", "image/x-icon"],
  heic: ["image", "image/heic"],
  avif: ["image", "image/avif"],
  mp3: ["audio", "audio/mpeg"],
  m4a: ["audio", "audio/mp4"],
  wav: ["audio", "audio/wav"],
  ogg: ["audio", "audio/ogg"],
  flac: ["audio", "audio/flac"],
  mp4: ["video", "video/mp4"],
  m4v: ["video", "video/mp4"],
  mov: ["video", "video/quicktime"],
  avi: ["video", "video/x-msvideo"],
  mkv: ["video", "video/x-matroska"],
  webm: ["video", "video/webm"],
  zip: ["archive", "application/zip"],
  jar: ["archive", "application/java-archive"],
  whl: ["archive", "application/zip"],
  apk: ["archive", "application/vnd.android.package-archive"],
  gz: ["archive", "application/gzip"],
  tgz: ["archive", "application/gzip"],
  bz2: ["archive", "application/x-bzip2"],
  xz: ["archive", "application/x-xz"],
  zst: ["archive", "application/zstd"],
  "7z": ["archive", "application/x-7z-compressed"],
  rar: ["archive", "application/vnd.rar"],
  tar: ["archive", "application/x-tar"],
  pkl: ["pickle", "application/octet-stream"],
  npy: ["data", "application/octet-stream"],
  h5: ["data", "application/x-hdf5"],
  hdf5: ["data", "application/x-hdf5"],
  parquet: ["data", "application/vnd.apache.parquet"],
  arrow: ["data", "application/vnd.apache.arrow.file"],
  feather: ["data", "application/vnd.apache.arrow.file"],
  sqlite: ["database", "application/vnd.sqlite3"],
  sqlite3: ["database", "application/vnd.sqlite3"],
  db: ["database", "application/vnd.sqlite3"],
  elf: ["program", "application/octet-stream"],
  so: ["program", "application/octet-stream"],
  o: ["program", "application/octet-stream"],
  exe: ["program", "application/octet-stream"],
  dll: ["program", "application/octet-stream"],
  macho: ["program", "application/octet-stream"],
  class: ["program", "application/java-vm"],
  wasm: ["program", "application/wasm"],
};

const plain = "text/plain";
const textTypes: Readonly<Record<string, Named>> = {
  txt: ["text", plain],
  log: ["text", plain],
  csv: ["csv", "text/csv"],
  tsv: ["csv", "text/tab-separated-values"],
  json: ["json", "application/json"],
  ndjson: ["json", "application/x-ndjson"],
  ipynb: ["notebook", "application/x-ipynb+json"],
  md: ["markdown", "text/markdown"],
  html: ["html", "text/html"],
  xml: ["xml", "application/xml"],
  svg: ["svg", "image/svg+xml"],
  rtf: ["rtf", "application/rtf"],
  eml: ["mail", "message/rfc822"],
  yaml: ["yaml", "application/yaml"],
  toml: ["toml", "application/toml"],
  tex: ["latex", "application/x-tex"],
  // The oldest form of a pickle is text.
  pkl: ["pickle", "application/octet-stream"],
  py: ["python", "text/x-python"],
  ts: ["typescript", plain],
  tsx: ["typescript", plain],
  js: ["javascript", "text/javascript"],
  mjs: ["javascript", "text/javascript"],
  cjs: ["javascript", "text/javascript"],
  jsx: ["javascript", "text/javascript"],
  css: ["css", "text/css"],
  sql: ["sql", "application/sql"],
  sh: ["shell", "text/x-shellscript"],
  bash: ["shell", "text/x-shellscript"],
  ps1: ["shell", plain],
  c: ["c", plain],
  h: ["c", plain],
  cc: ["cpp", plain],
  cpp: ["cpp", plain],
  hpp: ["cpp", plain],
  cs: ["csharp", plain],
  go: ["go", plain],
  rs: ["rust", plain],
  java: ["java", plain],
  kt: ["kotlin", plain],
  swift: ["swift", plain],
  rb: ["ruby", plain],
  php: ["php", plain],
  pl: ["perl", plain],
  r: ["r", plain],
  lua: ["lua", plain],
  scala: ["scala", plain],
  vue: ["vue", plain],
};
