/** A delimited text as rows of cells, and what stood between the cells. */
export type Table = { readonly delimiter: string; readonly rows: readonly (readonly string[])[] };

const delimiters = [",", ";", "\t", "|"];
const sampleRowsMax = 20;

/** Reads comma-, semicolon-, tab- or bar-separated text as spreadsheets write it; lines without a cell are left out. */
export function parseTable(raw: string): Table {
  const text = raw.replace(/^\uFEFF/, "");
  // A first line that Excel understands: it names the delimiter and is no data.
  const named = /^"?sep=(.)"?\r?\n/i.exec(text);
  const body = text.slice(named?.[0].length ?? 0);
  const delimiter = named?.[1] ?? likelyDelimiter(body);
  return { delimiter, rows: rowsOf(body, delimiter, Number.POSITIVE_INFINITY) };
}

/** The one that cuts the first rows into the same number of cells, and the more cells the better. */
function likelyDelimiter(text: string): string {
  const scores = delimiters.map((delimiter) => {
    const widths = rowsOf(text, delimiter, sampleRowsMax).map((row) => row.length);
    const usual = mostFrequent(widths.filter((width) => width > 1));
    return { delimiter, rows: widths.filter((width) => width === usual).length, usual: usual ?? 0 };
  });
  const best = scores.reduce((a, b) => (b.rows > a.rows || (b.rows === a.rows && b.usual > a.usual) ? b : a));
  return best.delimiter;
}

function mostFrequent(values: readonly number[]): number | undefined {
  const times = (value: number) => values.filter((other) => other === value).length;
  return values.toSorted((a, b) => times(b) - times(a) || b - a)[0];
}

function rowsOf(text: string, delimiter: string, rowsMax: number): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (let at = 0; at <= text.length && rows.length < rowsMax; ) {
    const cell = cellAt(text, at, delimiter);
    row.push(cell.value);
    at = cell.end + 1;
    if (text[cell.end] === delimiter) continue;
    if (text[cell.end] === "\r" && text[at] === "\n") at += 1;
    if (row.some((value) => value.trim() !== "")) rows.push(row);
    row = [];
  }
  return rows;
}

/** The cell that begins here; `end` is the place of the delimiter or the end of the line behind it. */
function cellAt(text: string, start: number, delimiter: string): { value: string; end: number } {
  let quote = start;
  while (text[quote] === " ") quote += 1;
  if (text[quote] !== '"') return plainCell(text, start, delimiter);
  let value = "";
  for (let at = quote + 1; ; ) {
    const next = text.indexOf('"', at);
    // A quote that is never closed is a character like any other.
    if (next === -1) return plainCell(text, start, delimiter);
    value += text.slice(at, next);
    at = next + 2;
    if (text[next + 1] === '"') {
      value += '"';
      continue;
    }
    const rest = plainCell(text, next + 1, delimiter);
    return { value: value + rest.value.trimEnd(), end: rest.end };
  }
}

function plainCell(text: string, start: number, delimiter: string): { value: string; end: number } {
  let end = start;
  while (end < text.length && text[end] !== delimiter && text[end] !== "\n" && text[end] !== "\r") end += 1;
  return { value: text.slice(start, end), end };
}
