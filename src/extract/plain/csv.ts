import { ok } from "../../base/result.ts";
import type { Block, Receipt } from "../extracted.ts";
import { finish } from "../finish.ts";
import { columnsMax, rowsMax } from "../limits.ts";
import { openLosses } from "../losses.ts";
import type { Reader } from "../reading.ts";
import { linesOf } from "./lines.ts";

export const readCsv: Reader = ({ bytes }) => {
  const losses = openLosses();
  const read = linesOf(bytes, losses);
  if (!read.ok) return Promise.resolve(read);
  const { text, encoding = "utf-8" } = read.value;
  const delimiter = delimiterOf(text);
  let records = parse(text, delimiter, true);
  if (records.isOpen) {
    // One quote that nobody closed would make one cell of all the rest: then quotes are only characters.
    losses.add("open_quotes", { line: records.line });
    records = parse(text, delimiter, false);
  }
  const { rows } = records;
  const last = rows.at(-1);
  const isCut = rows.length >= rowsMax && last !== undefined;
  const cut: Receipt["stopped"] = isCut ? { limit: "rows", at: { line: last.line } } : read.value.stopped;
  const blocks = tablesOf(rows);
  return Promise.resolve(
    ok(finish({ format: "csv", blocks, losses, encoding, ...(cut === undefined ? {} : { stopped: cut }) })),
  );
};

const sniffedLines = 50;
const delimiters = [",", ";", "\t", "|"];

/** The one that stands most evenly in the first lines, outside of quotes. */
function delimiterOf(text: string): string {
  const sample = text.split("\n", sniffedLines).map((line) => line.slice(0, 10_000).replaceAll(/"[^"]*"/g, ""));
  const lines = sample.filter((line) => line.trim() !== "");
  const scored = delimiters.map((delimiter) => {
    const counts = lines.map((line) => line.split(delimiter).length - 1);
    const usual = counts.toSorted((one, other) => one - other)[Math.floor(counts.length / 2)] ?? 0;
    const even = counts.filter((count) => count === usual).length / Math.max(counts.length, 1);
    return { delimiter, score: usual === 0 ? 0 : even * 1_000 + Math.min(usual, 100) };
  });
  return scored.reduce((best, one) => (one.score > best.score ? one : best), { delimiter: ",", score: 0 }).delimiter;
}

type Row = { readonly cells: string[]; readonly line: number };
type Parsed = { readonly rows: readonly Row[]; readonly isOpen: boolean; readonly line: number };

function parse(text: string, delimiter: string, hasQuotes: boolean): Parsed {
  const rows: Row[] = [];
  let [cells, cell, line, start, quoteLine]: [string[], string, number, number, number] = [[], "", 1, 1, 0];
  let isQuoted = false;
  const endRow = () => {
    cells.push(cell);
    if (cells.some((one) => one !== "")) rows.push({ cells: cells.slice(0, columnsMax), line: start });
    [cells, cell] = [[], ""];
  };
  for (let at = 0; at < text.length && rows.length < rowsMax; ) {
    const next = nextSign(text, at, isQuoted ? '"' : delimiter, hasQuotes);
    cell += text.slice(at, next);
    const sign = text[next];
    at = next + 1;
    if (isQuoted) {
      if (sign === undefined) break;
      if (text[at] === '"') {
        cell += '"';
        at += 1;
      } else isQuoted = false;
      line += newlines(text, next, quoteLine);
      quoteLine = next;
    } else if (sign === '"' && cell.trim() === "") [isQuoted, cell, quoteLine] = [true, "", next];
    else if (sign === '"') cell += '"';
    else if (sign === delimiter) {
      cells.push(cell);
      cell = "";
    } else if (sign === "\n") {
      endRow();
      line += 1;
      start = line;
    }
  }
  if (!isQuoted && rows.length < rowsMax) endRow();
  return { rows, isOpen: isQuoted, line: start };
}

/** Where the next sign that means something stands. */
function nextSign(text: string, from: number, delimiter: string, hasQuotes: boolean): number {
  for (let at = from; at < text.length; at += 1) {
    const character = text[at];
    if (delimiter === '"') {
      if (character === '"') return at;
    } else if (character === delimiter || character === "\n" || (hasQuotes && character === '"')) return at;
  }
  return text.length;
}

function newlines(text: string, end: number, from: number): number {
  let count = 0;
  for (let feed = text.indexOf("\n", from); feed !== -1 && feed < end; feed = text.indexOf("\n", feed + 1)) count += 1;
  return count;
}

/** One table: its rows follow each other, whatever lines they take. */
function tablesOf(rows: readonly Row[]): Block[] {
  const [first] = rows;
  const last = rows.at(-1);
  if (first === undefined || last === undefined) return [];
  const text = rows.map(({ cells }) => cells.map((cell) => cell.replaceAll(/\s+/g, " ").trim()).join("\t")).join("\n");
  const isNumber = (cell: string) => /^[-+]?[\d.,]+%?$/.test(cell.trim());
  const hasHead = rows.length > 1 && first.cells.every((cell) => !isNumber(cell));
  const to = last === first ? {} : { to: { line: last.line, row: rows.length } };
  return [{ kind: "table", text, headRows: hasHead ? 1 : 0, from: { line: first.line, row: 1 }, ...to }];
}
