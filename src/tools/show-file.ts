import { createHash } from "node:crypto";
import { ok, type Result } from "../base/result.ts";
import { decodeText, fileTypeOf } from "../documents/documents.ts";
import { failure } from "../protocol/failure.ts";
import { forModels } from "../words/words.ts";
import type { FileFailure, FileStat, Workspace } from "../workspace/workspace.ts";
import { outputBytes } from "./output.ts";
import { lineTaker } from "./take-lines.ts";
import type { Outside } from "./tool.ts";

/** A file with what is in it. `bytes` are its first ones, and all of it but for very large texts. */
export type OpenFile =
  | { readonly kind: "unwritten"; readonly path: string }
  | { readonly kind: "text"; readonly stat: FileStat; readonly bytes: Buffer; readonly words: Words }
  | { readonly kind: "other"; readonly stat: FileStat; readonly bytes: Buffer; readonly type: string; mime: string };
export type TextFile = Extract<OpenFile, { kind: "text" }>;
type Words = NonNullable<ReturnType<typeof decodeText>>;

/** Bytes that are read at once. */
const pieceBytes = 16 * 1024 * 1024;

export async function openFile(workspace: Workspace, path: string): Promise<Result<OpenFile, FileFailure>> {
  const content = await workspace.read(path, { bytesMax: pieceBytes });
  if (!content.ok) return content;
  const { stat, bytes, isUnwritten } = content.value;
  if (isUnwritten) return ok({ kind: "unwritten", path: stat.path });
  const words = decodeText(bytes, { isCut: bytes.length < stat.bytes });
  if (words !== undefined) return ok({ kind: "text", stat, bytes, words });
  const { type, ending, mime = "" } = fileTypeOf(stat.path, bytes);
  return ok({ kind: "other", stat, bytes, type: ending === "" ? type : ending, mime });
}

export type Part = {
  /** The first line and where in it to begin, both from 1 on. */
  readonly offset?: number | undefined;
  readonly column?: number | undefined;
  readonly limit?: number | undefined;
  /** What there is room for, header and all. */
  readonly bytesMax: number;
};

/** What a model is shown of a text file: `total` lines are in it, and `hash` is that of all its bytes. */
export type ShownText = {
  readonly text: string;
  readonly total: number;
  readonly hash: string;
  /** Which of its characters are the file's own. */
  readonly outside: readonly Outside[];
  /** Nothing of it was left out. */
  readonly isWhole: boolean;
  /** Characters of the first line that was asked for. */
  readonly firstLength: number;
};

/** Texts below this are shown whole, larger ones page by page. */
const wholeBytesMax = 100 * 1024;
const pageCharactersMax = 50_000;

/** A header, the exact lines, and how to read on. */
export async function showText(
  workspace: Workspace,
  file: TextFile,
  { offset = 1, column = 1, limit = Number.POSITIVE_INFINITY, bytesMax }: Part,
): Promise<Result<ShownText, FileFailure>> {
  const { stat, words } = file;
  const taker = lineTaker({
    ...{ first: offset, column, linesMax: limit },
    charactersMax: stat.bytes < wholeBytesMax ? Number.POSITIVE_INFINITY : pageCharactersMax,
    bytesMax: Math.max(bytesMax - frameBytes(stat.path), shownBytesMin),
  });
  const hash = await readAll(workspace, file, taker.add);
  if (!hash.ok) return hash;
  const { lines, total, next, firstLength } = taker.end();
  const { files } = forModels;
  const about = [
    ...(total === 0 ? [files.empty] : [files.lines(offset, offset + lines.length - 1, total)]),
    ...(column > 1 ? [files.fromColumn(column)] : []),
    ...(total === 0 ? [] : [files.size(stat.bytes)]),
    words.isExact ? words.encoding : files.broken(words.encoding),
    ...(lines.some((line) => line.endsWith("\r")) ? [files.windowsLines] : []),
  ];
  const header = files.header(stat.path, about.join(", "));
  const more = next === undefined ? [] : [files.more(stat.path, next.line, next.column)];
  const isWhole = next === undefined && offset === 1 && column === 1;
  const content = lines.join("\n");
  const outside = outsideOf(stat.path, header.length + 1, content);
  return ok({ text: [header, ...lines, ...more].join("\n"), outside, total, hash: hash.value, isWhole, firstLength });
}

/** The file's own characters. Skills are put there by the operator, and are meant to be followed. */
export function outsideOf(path: string, from: number, content: string): Outside[] {
  return path.startsWith("skills/") ? [] : [{ source: path, from, to: from + content.length, isExact: true }];
}

/** Something is always shown, or reading on would never end. */
const shownBytesMin = 200;

/** Room for the header, the mark, the line that says how to read on, and a note about arguments. */
function frameBytes(path: string): number {
  return 3 * outputBytes(forModels.files.name(path)) + 500;
}

/** Hands on the whole text and answers the hash of all bytes. */
async function readAll(
  workspace: Workspace,
  { stat, bytes, words }: TextFile,
  add: (text: string) => void,
): Promise<Result<string, FileFailure>> {
  const hash = createHash("sha256").update(bytes);
  if (bytes.length === stat.bytes) {
    add(words.text);
    return ok(hash.digest("hex"));
  }
  const decoder = new TextDecoder(words.encoding);
  add(decoder.decode(bytes, { stream: true }));
  for (let offset = bytes.length; offset < stat.bytes; ) {
    const piece = await workspace.read(stat.path, { offset, bytesMax: pieceBytes });
    if (!piece.ok) return piece;
    const { stat: now, bytes: more } = piece.value;
    const isSame = now.bytes === stat.bytes && now.modifiedAt === stat.modifiedAt && more.length > 0;
    if (!isSame) return failure("read_failed", { path: forModels.files.name(stat.path), why: "changed" });
    hash.update(more);
    add(decoder.decode(more, { stream: true }));
    offset += more.length;
  }
  add(decoder.decode());
  return ok(hash.digest("hex"));
}
