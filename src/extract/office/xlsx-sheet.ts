import type { Block } from "../extracted.ts";
import { cellsMax, charactersMax, columnsMax, rowsMax } from "../limits.ts";
import type { Losses } from "../losses.ts";
import type { Archive } from "../packed/archive.ts";
import { type Attributes, readXml, type XmlEnd } from "../packed/xml.ts";
import { type NumberKind, numberText } from "./xlsx-formats.ts";

export type Workbook = {
  readonly strings: readonly string[];
  readonly formats: readonly NumberKind[];
  readonly is1904: boolean;
  readonly losses: Losses;
  /** What all sheets so far came to. */
  readonly spent: { rows: number; cells: number; characters: number };
};

type Row = { readonly number: number; readonly cells: readonly Cell[] };
type Cell = { readonly column: number; readonly text: string; readonly isNumber: boolean };

export type ReadSheet = {
  readonly blocks: readonly Block[];
  readonly end: XmlEnd;
  readonly limit?: { readonly name: string; readonly row: number };
};

/** Rows that are there and have something in them; rows without a gap between them are one table. */
export function readSheet(archive: Archive, part: string, sheet: string, book: Workbook): ReadSheet {
  const rows: Row[] = [];
  const { handler, last } = sheetHandler(book, sheet, (row) => rows.push(row));
  const limit = () => {
    const { spent } = book;
    return spent.rows > rowsMax
      ? "rows"
      : spent.cells > cellsMax
        ? "cells"
        : spent.characters > charactersMax
          ? "characters"
          : undefined;
  };
  const end = readXml(archive, part, handler, () => limit() === undefined);
  const name = end === "limit" ? "size" : limit();
  const blocks = areasOf(rows).map((area) => tableOf(area, sheet));
  return { blocks, end, ...(name === undefined ? {} : { limit: { name, row: last() } }) };
}

function sheetHandler(book: Workbook, sheet: string, add: (row: Row) => void) {
  let row = 0;
  let column = 0;
  let cells: Cell[] = [];
  let cell: OpenCell | undefined;
  let inside: "v" | "t" | "f" | undefined;
  const { spent, losses } = book;
  const handler = {
    open(name: string, attributes: Attributes) {
      if (name === "row") {
        row = wholeNumber(attributes.get("r")) ?? row + 1;
        [cells, column] = [[], 0];
      } else if (name === "c") {
        column = columnOf(attributes.get("r")) ?? column + 1;
        cell = {
          type: attributes.get("t") ?? "n",
          style: Number(attributes.get("s") ?? "0"),
          text: "",
          hasFormula: false,
        };
      } else if (name === "v" || name === "t" || name === "f") inside = name;
      else if (name === "rPh") inside = undefined;
      if (name === "f" && cell !== undefined) cell.hasFormula = true;
    },
    close(name: string) {
      if (name === "v" || name === "t" || name === "f") inside = undefined;
      else if (name === "c" && cell !== undefined) {
        if (cell.hasFormula && cell.text === "" && cell.type !== "str")
          losses.add("formulas_without_value", { sheet, row });
        const text = cellText(cell, book, { sheet, row });
        if (text !== "" && column <= columnsMax) cells.push({ column, text, isNumber: cell.type === "n" });
        spent.cells += 1;
        spent.characters += text.length + 1;
        cell = undefined;
      } else if (name === "row") {
        spent.rows += 1;
        if (cells.length > 0) add({ number: row, cells });
      }
    },
    text(text: string) {
      if (cell !== undefined && (inside === "v" || inside === "t")) cell.text += text;
    },
  };
  return { handler, last: () => Math.max(row, 1) };
}

type OpenCell = { readonly type: string; readonly style: number; text: string; hasFormula: boolean };

function cellText({ type, style, text }: OpenCell, book: Workbook, place: { sheet: string; row: number }): string {
  if (type === "s") {
    if (text === "") return "";
    const shared = book.strings[Number(text)];
    if (shared === undefined) book.losses.add("texts_missing", place);
    return oneLine(shared ?? "");
  }
  if (type === "b") return text === "1" ? "TRUE" : text === "0" ? "FALSE" : "";
  if (type === "n") return numberText(text, book.formats[style] ?? "number", book.is1904);
  return oneLine(text);
}

/** A row is one line, and its cells are apart by tabs. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function wholeNumber(written: string | undefined): number | undefined {
  return written !== undefined && /^\d{1,7}$/.test(written) ? Number(written) : undefined;
}

/** `AB12` is in column 28. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = /^([A-Za-z]{1,3})\d/.exec(reference ?? "")?.[1];
  if (letters === undefined) return undefined;
  return [...letters.toUpperCase()].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
}

function areasOf(rows: readonly Row[]): Row[][] {
  const areas: Row[][] = [];
  for (const row of rows) {
    const area = areas.at(-1);
    if (area !== undefined && area.at(-1)?.number === row.number - 1) area.push(row);
    else areas.push([row]);
  }
  return areas;
}

/** Columns that nothing stands in are left out, so that one far cell does not make every row long. */
function tableOf(rows: readonly Row[], sheet: string): Block {
  const used = new Set<number>();
  for (const { cells } of rows) for (const { column } of cells) used.add(column);
  const places = new Map([...used].toSorted((one, other) => one - other).map((column, index) => [column, index]));
  const lines = rows.map(({ cells }) => {
    const line: string[] = Array.from({ length: places.size }, () => "");
    for (const { column, text } of cells) line[places.get(column) ?? 0] = text;
    return line.join("\t").trimEnd();
  });
  const [first, last] = [rows[0]?.number ?? 1, rows.at(-1)?.number ?? 1];
  return {
    ...{
      kind: "table",
      text: lines.join("\n"),
      headRows: hasHead(rows, places.size) ? 1 : 0,
      from: { sheet, row: first },
    },
    ...(last === first ? {} : { to: { sheet, row: last } }),
  };
}

/** A first row of words over rows that have more than words, or that are many. */
const rowsWithHeadMin = 3;

function hasHead(rows: readonly Row[], columns: number): boolean {
  const [head, next] = rows;
  if (head === undefined || next === undefined || head.cells.some(({ isNumber }) => isNumber)) return false;
  return (
    head.cells.length * 2 > columns && (next.cells.some(({ isNumber }) => isNumber) || rows.length >= rowsWithHeadMin)
  );
}
