import type { Block, PageStart, Place } from "../extracted.ts";
import { tableAt } from "./page-tables.ts";
import { fixedWidth, type Line } from "./pdf-page.ts";

/** What stands on pages, in the order of a reader. */
export type Piece =
  | { readonly kind: "line"; readonly line: Line; readonly place: Place; readonly right: number }
  | { readonly kind: "heading"; readonly text: string; readonly level: number; readonly place: Place }
  | { readonly kind: "contents"; readonly lines: readonly Line[]; readonly place: Place };

type LinePiece = Extract<Piece, { kind: "line" }>;
type Open = { readonly kind: "paragraph" | "list" | "code"; readonly lines: LinePiece[] };

/** Lines become paragraphs, programs, lists and tables again, over the ends of pages too. */
export function blocksOf(pieces: readonly Piece[]): Block[] {
  const blocks: Block[] = [];
  let open: Open | undefined;
  const close = () => {
    if (open !== undefined) blocks.push(blockOf(open));
    open = undefined;
  };
  for (let index = 0; index < pieces.length; index += 1) {
    const piece = pieces[index];
    if (piece === undefined) continue;
    if (piece.kind !== "line") {
      close();
      blocks.push(piece.kind === "heading" ? headingOf(piece) : contentsOf(piece));
      continue;
    }
    const table = tableAt(pieces, index);
    if (table !== undefined) {
      close();
      blocks.push({ kind: "table", text: table.text, headRows: table.headRows, from: piece.place });
      index += table.pieces - 1;
      continue;
    }
    const kind = kindOf(piece, open);
    const before = open?.lines.at(-1);
    if (open === undefined || before === undefined || open.kind !== kind || !isGoingOn(open.kind, before, piece)) {
      close();
      open = { kind, lines: [piece] };
    } else open.lines.push(piece);
  }
  close();
  return blocks;
}

function headingOf({ text, level, place }: Extract<Piece, { kind: "heading" }>): Block {
  return { kind: "heading", text, level, from: place };
}

function contentsOf({ lines, place }: Extract<Piece, { kind: "contents" }>): Block {
  return { kind: "contents", text: lines.map(({ text }) => text.replaceAll("\t", " ")).join("\n"), from: place };
}

const bullet = /^[•‣◦▪●○■□◆◇▶►➢⁃∙·–*-]\s/u;
const numberedItem =
  /^(?:(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)]\s|\((?:\d{1,3}|[a-z]|[ivx]{1,5})\)\s|（\d{1,2}）|[①-⑳])\s?\S/u;
const isItem = ({ line }: LinePiece) => bullet.test(line.text) || numberedItem.test(line.text);

/** A list goes on with lines that are further to the right than its marks. */
function kindOf(piece: LinePiece, open: Open | undefined): Open["kind"] {
  if (isItem(piece) && !piece.line.isFixed) return "list";
  if (piece.line.isFixed) return "code";
  const first = open?.kind === "list" ? open.lines[0] : undefined;
  const before = open?.lines.at(-1);
  if (first === undefined || before === undefined) return "paragraph";
  const isInside = piece.line.left > first.line.left + indentPoints && isNear(before, piece);
  return isInside || (isWrapped(before) && isNear(before, piece)) ? "list" : "paragraph";
}

const indentPoints = 3;
/** Lines of one paragraph are no further apart, in heights of letters. */
const leadingMax = 1.5;
const codeLeadingMax = 3.2;
const listLeadingMax = 2.6;
/** So much of a line's width may be missing at its end when the next word did not fit in. */
const wrapShare = 0.14;
const ends = /[.!?:;。！？：；…]["'”’)）」』\]]?$/u;

function isGoingOn(kind: Open["kind"], before: LinePiece, piece: LinePiece): boolean {
  if (kind === "code") return isSamePage(before, piece) ? isNear(before, piece, codeLeadingMax) : true;
  if (kind === "list") return isNear(before, piece, listLeadingMax) || !isSamePage(before, piece);
  if (Math.abs(before.line.size - piece.line.size) > 0.15 * before.line.size) return false;
  if (!isSamePage(before, piece)) return isWrapped(before) && isCarriedOn(before, piece);
  if (before.line.baseline < piece.line.baseline) return isWrapped(before) && isCarriedOn(before, piece);
  if (!isNear(before, piece)) return false;
  const isIndented = piece.line.left > before.line.left + piece.line.size * 0.8;
  if (isIndented && ends.test(before.line.text)) return false;
  return isWrapped(before) || !ends.test(before.line.text);
}

function isSamePage(one: LinePiece, other: LinePiece): boolean {
  return one.place.page === other.place.page;
}

function isNear({ line: before, place }: LinePiece, piece: LinePiece, leading = leadingMax): boolean {
  if (place.page !== piece.place.page) return false;
  const gap = before.lastBaseline - piece.line.baseline;
  return gap >= 0 && gap <= leading * Math.max(before.size, piece.line.size);
}

/** The line goes to the end of its column, so that what comes next may be the rest of its sentence. */
function isWrapped({ line, right }: LinePiece): boolean {
  return line.isBroken || line.right > right - wrapShare * (right - line.left);
}

function isCarriedOn({ line: before }: LinePiece, { line }: LinePiece): boolean {
  return before.isBroken || (!ends.test(before.text) && /^[\p{Ll}\p{Lo}\p{N}("'“‘（「]/u.test(line.text));
}

function blockOf(open: Open): Block {
  const { kind, lines } = open;
  const from = lines[0]?.place ?? {};
  const { text, pageStarts } = writtenOf(open);
  const last = pageStarts.at(-1);
  return { kind, text, from, ...(last === undefined ? {} : { to: last.place, pageStarts }) };
}

/** Lines as one text, and where in it each further page begins. */
function writtenOf({ kind, lines }: Open): { readonly text: string; readonly pageStarts: readonly PageStart[] } {
  const left = kind === "code" ? Math.min(...lines.map(({ line }) => line.left)) : 0;
  const pageStarts: PageStart[] = [];
  let text = "";
  let before: LinePiece | undefined;
  for (const piece of lines) {
    const { line, place } = piece;
    const isCode = kind === "code";
    if (before !== undefined)
      text += isCode || (kind === "list" && isItem(piece)) ? "\n" : jointOf(text, before.line, line);
    if (before !== undefined && before.place.page !== place.page) pageStarts.push({ at: text.length, place });
    text += isCode ? " ".repeat(indentOf(line, left)) + line.text : line.text.replaceAll("\t", " ");
    before = piece;
  }
  return { text, pageStarts };
}

const indentMax = 80;

function indentOf({ left, size }: Line, from: number): number {
  const blanks = Math.round((left - from) / (fixedWidth * size));
  return Number.isFinite(blanks) ? Math.min(Math.max(blanks, 0), indentMax) : 0;
}

const spaceless = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uffef]/u;

/** Words that were broken are whole again, and scripts without blanks get none. */
function jointOf(text: string, before: Line, { text: words }: Line): string {
  return before.isBroken || (spaceless.test(text.slice(-1)) && spaceless.test(words.slice(0, 1))) ? "" : " ";
}
