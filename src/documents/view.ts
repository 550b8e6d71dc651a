import { posix } from "node:path";
import type { Clock } from "../base/clock.ts";
import { ok, type Result } from "../base/result.ts";
import { decodeText } from "../extract/decode.ts";
import type { ExtractFailure } from "../extract/extract.ts";
import type { Block, Extracted } from "../extract/extracted.ts";
import type { FileView } from "../protocol/file-view-routes.ts";
import type { FileFailure, FileStat, Workspace } from "../workspace/workspace.ts";
import type { Documents, ViewWanted } from "./documents.ts";
import { type FileType, fileTypeOf, typeHeadBytes } from "./file-type.ts";

type Parts = { readonly extract: Documents["extract"]; readonly clock: Clock };

/** Text that is shown by lines; more of it is left out. */
const textBytesMax = 16 * 1024 * 1024;
/** Files that somebody looks at are read once, and kept for a while. */
const keptFilesMax = 4;
const keptCharactersMax = 40_000_000;
const keptMs = 120_000;

type Read = Table | Lines | Blocks;
type Sheet = {
  readonly name: string;
  readonly rows: readonly Row[];
  readonly columns: number;
  readonly headRows: number;
};
type Row = { readonly number: number; readonly text: string };
type Table = { readonly kind: "table"; readonly sheets: readonly Sheet[]; readonly cut: string | null };
type Lines = {
  readonly kind: "text";
  readonly lines: readonly string[];
  readonly encoding: string;
  readonly cut: string | null;
};
type Blocks = { readonly kind: "document"; readonly blocks: readonly Block[]; readonly cut: string | null };
type Answer = Result<Read | undefined, FileFailure | ExtractFailure>;

const readAsDocument = new Set(["pdf", "document", "presentation", "ebook"]);
const readAsTable = new Set(["csv", "spreadsheet"]);

/** What is in a file, a page at a time. Whoever scrolls asks often: what was read is kept while they do. */
export function openView({ extract, clock }: Parts): Pick<Documents, "view" | "typeOf"> {
  const kept = new Map<string, Promise<Answer>>();
  const sizes = new Map<string, number>();
  let forget = () => {};

  /** One reading for all who ask for the same content. A failure is not kept. */
  function readOnce(key: string, read: () => Promise<Answer>): Promise<Answer> {
    forget();
    forget = clock.after(keptMs, () => kept.clear());
    const known = kept.get(key);
    kept.delete(key);
    const reading = known ?? read();
    kept.set(key, reading);
    if (known === undefined) void reading.then((answer) => makeRoom(key, answer));
    return reading;
  }

  function makeRoom(key: string, answer: Answer): void {
    if (!answer.ok) return void kept.delete(key);
    sizes.set(key, charactersOf(answer.value));
    const total = () => [...kept.keys()].reduce((sum, one) => sum + (sizes.get(one) ?? 0), 0);
    for (const old of [...kept.keys()]) {
      if (kept.size <= keptFilesMax && total() <= keptCharactersMax) break;
      kept.delete(old);
    }
    for (const old of [...sizes.keys()]) if (!kept.has(old)) sizes.delete(old);
  }

  return {
    async typeOf(workspace, path) {
      const head = await workspace.read(path, { bytesMax: typeHeadBytes });
      if (!head.ok) return head;
      return ok({ ...fileTypeOf(posix.basename(head.value.stat.path), head.value.bytes), stat: head.value.stat });
    },
    async view(workspace, path, wanted) {
      const head = await workspace.read(path, { bytesMax: typeHeadBytes });
      if (!head.ok) return head;
      const { stat, bytes } = head.value;
      const fileType = fileTypeOf(posix.basename(stat.path), bytes);
      const kind = kindOf(fileType, stat, wanted.plain);
      if (kind === undefined) return ok({ kind: "other", type: fileType.type });
      const key = JSON.stringify([workspace.name, stat.path, stat.bytes, stat.modifiedAt, kind]);
      const read = await readOnce(key, () =>
        kind === "text" ? readLines(workspace, stat) : readDocument(extract, { workspace, stat, kind }),
      );
      if (!read.ok) return read;
      return ok(
        read.value === undefined ? { kind: "other", type: fileType.type } : pageOf(read.value, fileType.type, wanted),
      );
    },
  };
}

function kindOf({ type, isText }: FileType, { bytes }: FileStat, plain: boolean): Read["kind"] | undefined {
  if (bytes === 0) return isText ? "text" : undefined;
  if (!plain && readAsTable.has(type)) return "table";
  if (readAsDocument.has(type)) return "document";
  return isText ? "text" : undefined;
}

async function readLines(workspace: Workspace, { path, bytes: size }: FileStat): Promise<Answer> {
  const read = await workspace.read(path, { bytesMax: textBytesMax });
  if (!read.ok) return read;
  const isCut = size > textBytesMax;
  const decoded = decodeText(read.value.bytes, { isCut });
  if (decoded === undefined) return ok(undefined);
  const lines = decoded.text.split(/\r\n|\r|\n/);
  if (lines.at(-1) === "") lines.pop();
  return ok({ kind: "text", lines, encoding: decoded.encoding, cut: isCut ? "size" : null });
}

type Reading = { readonly workspace: Workspace; readonly stat: FileStat; readonly kind: "table" | "document" };

async function readDocument(extract: Documents["extract"], { workspace, stat, kind }: Reading): Promise<Answer> {
  // Others may wait for the same: who asked first and left does not end it.
  const extracted = await extract(workspace, stat.path, { signal: new AbortController().signal });
  if (!extracted.ok) return extracted;
  const { blocks, receipt } = extracted.value;
  const cut = receipt.stopped?.limit ?? null;
  return ok(kind === "table" ? { kind, sheets: sheetsOf(blocks), cut } : { kind, blocks, cut });
}

/** The tables of a sheet one below the other, each row under its own number. */
function sheetsOf(blocks: Extracted["blocks"]): Sheet[] {
  const bySheet = Map.groupBy(blocks, ({ from }) => from.sheet ?? "");
  return [...bySheet].map(([name, inSheet]) => {
    const tables = inSheet.filter(({ kind }) => kind === "table");
    const rows = tables.flatMap(({ text, from }) =>
      text.split("\n").map((line, index) => ({ number: (from.row ?? 1) + index, text: line })),
    );
    const columns = rows.reduce((most, { text }) => Math.max(most, cellCount(text)), 0);
    return { name, rows, columns, headRows: tables[0]?.headRows ?? 0 };
  });
}

function cellCount(line: string): number {
  let count = 1;
  for (let at = line.indexOf("\t"); at !== -1; at = line.indexOf("\t", at + 1)) count += 1;
  return count;
}

function charactersOf(read: Read | undefined): number {
  if (read === undefined) return 0;
  if (read.kind === "text") return read.lines.reduce((sum, line) => sum + line.length, 0);
  if (read.kind === "document") return read.blocks.reduce((sum, { text }) => sum + text.length, 0);
  return read.sheets.reduce((sum, { rows }) => sum + rows.reduce((more, { text }) => more + text.length, 0), 0);
}

function pageOf(read: Read, type: string, { sheet: wanted, from, limit }: ViewWanted): FileView {
  const { cut } = read;
  if (read.kind === "text") {
    const { lines, encoding } = read;
    return { kind: "text", type, encoding, total: lines.length, from, lines: lines.slice(from, from + limit), cut };
  }
  if (read.kind === "document") {
    const blocks = read.blocks.slice(from, from + limit).map(({ kind, text, level, headRows, from: place }) => ({
      ...{ kind, text, place },
      ...(level !== undefined && { level }),
      ...(headRows !== undefined && { headRows }),
    }));
    return { kind: "document", type, total: read.blocks.length, from, blocks, cut };
  }
  const {
    name: sheet,
    rows,
    columns,
    headRows,
  } = read.sheets.find(({ name }) => name === wanted) ??
    read.sheets[0] ?? { name: "", rows: [], columns: 0, headRows: 0 };
  return {
    ...{
      kind: "table",
      type,
      sheets: read.sheets.map(({ name }) => name),
      sheet,
      total: rows.length,
      columns,
      headRows,
      from,
    },
    rows: rows.slice(from, from + limit).map(({ number, text }) => ({ number, cells: text.split("\t") })),
    cut,
  };
}
