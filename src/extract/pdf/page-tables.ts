import type { Piece } from "./page-blocks.ts";
import type { Line } from "./pdf-page.ts";

type Table = {
  /** Rows, a line each, cells apart by a tab. */
  readonly text: string;
  readonly headRows: number;
  /** How many pieces it takes up. */
  readonly pieces: number;
};

const rowsMin = 3;
/** Of one column the beginnings may differ by so much: numbers stand to the right, and letters have margins. */
const columnPoints = 4;
const rowsApartSizesMax = 3;

/** A table that begins with this piece, as far as lines with gaps at the same places go on. */
export function tableAt(pieces: readonly Piece[], start: number): Table | undefined {
  const first = pieces[start];
  if (first?.kind !== "line" || !first.line.text.includes("\t")) return undefined;
  const columns = [
    first.line.left,
    ...first.line.stops.filter(({ at }) => isTab(first.line, at)).map(({ left }) => left),
  ];
  const rows: string[][] = [];
  let count = 0;
  let before: Line | undefined;
  for (let index = start; index < pieces.length; index += 1) {
    const piece = pieces[index];
    if (piece?.kind !== "line" || piece.place.page !== first.place.page || isApart(before, piece.line)) break;
    const { cells, places } = cellsOf(piece.line, columns);
    if (places.includes(-1) || new Set(places).size < places.length) break;
    if (places[0] === 0 && cells.length === 1 && columns.length > 1) break;
    const row = places[0] === 0 ? columns.map(() => "") : rows.at(-1);
    if (row === undefined) break;
    for (const [cell, place] of places.entries()) row[place] = `${row[place] ?? ""} ${cells[cell] ?? ""}`.trim();
    if (places[0] === 0) rows.push(row);
    before = piece.line;
    count += 1;
  }
  if (rows.length < rowsMin) return undefined;
  return { text: rows.map((cells) => cells.join("\t")).join("\n"), headRows: first.line.isBold ? 1 : 0, pieces: count };
}

function isTab({ text }: Line, at: number): boolean {
  return text[at - 1] === "\t";
}

/** A line is cut where its gaps are wide, and where narrow ones lead to a column. */
function cellsOf(line: Line, columns: readonly number[]) {
  const stops = line.stops.filter(({ at, left }) => isTab(line, at) || columnOf(columns, left) > 0);
  const cells = [...stops.map(({ at }) => at), line.text.length + 1].map((end, index) =>
    line.text.slice(stops[index - 1]?.at ?? 0, end - 1),
  );
  return { cells, places: [line.left, ...stops.map(({ left }) => left)].map((left) => columnOf(columns, left)) };
}

function isApart(before: Line | undefined, line: Line): boolean {
  if (before === undefined) return false;
  const gap = before.baseline - line.baseline;
  return gap <= 0 || gap > rowsApartSizesMax * line.size;
}

function columnOf(columns: readonly number[], left: number): number {
  return columns.findIndex((column) => Math.abs(column - left) <= columnPoints);
}
