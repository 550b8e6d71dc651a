import type { Block, Place } from "../../extract/extracted.ts";

export type Piece = { readonly text: string; readonly from: Place; readonly to: Place };

/** How much there is to read: a character of Chinese says as much as two letters. */
export function unitsOf(text: string): number {
  return text.length + (text.match(wide)?.length ?? 0);
}

const wide = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]/g;

/** A block in pieces of at most so many units: a table between rows, code between lines, all else between sentences. */
export function cutBlock(block: Block, unitsMax: number): readonly Piece[] {
  const { text, from, to = from } = block;
  if (block.kind === "table") return cutTable(block, unitsMax);
  if (unitsOf(text) <= unitsMax) return [{ text, from, to }];
  const steps = block.kind === "code" ? text.split(/(?<=\n)/) : text.split(/(?<=[.!?;][\s]|[。！？；\n])/u);
  return gather(
    steps.flatMap((step) => cutLong(step, unitsMax)),
    unitsMax,
  ).map((piece) => ({ text: piece.join(""), from, to }));
}

const rowsMax = 50;

/** Each part has the head of the table, and says which rows it holds where they are numbered one by one. */
function cutTable({ text, from, to = from, headRows = 0 }: Block, unitsMax: number): readonly Piece[] {
  const rows = text.split("\n");
  const head = rows.slice(0, headRows);
  const room = Math.max(unitsMax - unitsOf(head.join("\n")), unitsMax / 2);
  const steps = rows.slice(headRows).flatMap((row) => cutLong(row, unitsMax));
  const bodies = gather(steps, room, rowsMax);
  if (bodies.length <= 1) return [{ text, from, to }];
  const isWhole = steps.length === rows.length - head.length;
  const isNumbered = isWhole && from.row !== undefined && to.row === from.row + rows.length - 1;
  let row = (from.row ?? 0) + headRows;
  return bodies.map((body, index) => {
    const [first, last] = [row, row + body.length - 1];
    row += body.length;
    return {
      text: [...head, ...body].join("\n"),
      from: isNumbered && index > 0 ? { ...from, row: first } : from,
      to: isNumbered ? { ...to, row: last } : to,
    };
  });
}

/** Steps in groups that are as large as they may be. */
function gather(steps: readonly string[], unitsMax: number, countMax = Number.POSITIVE_INFINITY): string[][] {
  const groups: string[][] = [];
  let units = Number.POSITIVE_INFINITY;
  for (const step of steps) {
    const more = unitsOf(step);
    const last = groups.at(-1);
    if (last === undefined || units + more > unitsMax || last.length >= countMax) {
      groups.push([step]);
      units = more;
    } else {
      last.push(step);
      units += more;
    }
  }
  return groups;
}

/** What has no end of a sentence for so long is cut at a space, or between two characters. */
function cutLong(step: string, unitsMax: number): readonly string[] {
  if (unitsOf(step) <= unitsMax) return [step];
  const pieces: string[] = [];
  for (let rest = step; rest !== ""; ) {
    const end = endOfPiece(rest, unitsMax);
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return pieces;
}

function endOfPiece(text: string, unitsMax: number): number {
  // Half as many UTF-16 units always fit, and whole characters stay whole.
  const half = Math.max(2, Math.floor(unitsMax / 2));
  if (text.length <= half) return text.length;
  const space = text.lastIndexOf(" ", half);
  const end = space > half / 2 ? space + 1 : half;
  return /[\ud800-\udbff]/.test(text[end - 1] ?? "") ? end - 1 : end;
}
