import type { Table } from "./table.ts";

export type CellNumber = { readonly value: number; readonly decimals: number };

/** Reads a cell as a number: `1,234.50`, `¥ 12`, `(3)`, and `1.234,50` where the table writes numbers that way. */
export function columnReader(table: Table): (cell: string) => CellNumber | undefined {
  const style = styleOf(table);
  return (cell) => numberOf(cleaned(cell), style);
}

/** What stands in a cell when there is nothing to tell. */
export function isMissing(cell: string): boolean {
  return /^\s*(|-+|—+|n\/?a|null|none|nan|无|空|缺失)\s*$/i.test(cell);
}

type Style = "point" | "comma";

// A leading zero makes a number a name (`007`), and so do more digits than a number keeps.
const patterns: Readonly<Record<Style, RegExp>> = {
  point: /^[+-]?(?:(?:[1-9]\d{0,2}(?:,\d{2,3})*,\d{3}|0|[1-9]\d{0,14})(?:\.(\d+))?|\.(\d+))(?:e[+-]?\d{1,2})?$/i,
  comma: /^[+-]?(?:[1-9]\d{0,2}(?:\.\d{3})+|0|[1-9]\d{0,14})(?:,(\d+))?(?:e[+-]?\d{1,2})?$/i,
};

/** One way of writing for the whole table: the one that more cells need; in doubt the point, as programs write it. */
function styleOf({ delimiter, rows }: Table): Style {
  let [point, comma, either] = [0, 0, 0];
  for (const cell of rows.flat()) {
    const text = cleaned(cell);
    if (!/[.,]/.test(text)) continue;
    const [fitsPoint, fitsComma] = [patterns.point.test(text), patterns.comma.test(text)];
    if (fitsPoint && !fitsComma) point += 1;
    else if (fitsComma && !fitsPoint) comma += 1;
    // `1,234`: between semicolons the comma is free to be the decimal one.
    else if (fitsComma && text.includes(",") && delimiter === ";") either += 1;
  }
  return comma > point || (comma === point && either > 0) ? "comma" : "point";
}

function cleaned(cell: string): string {
  const text = cell
    .normalize("NFKC")
    .trim()
    .replace(/^\((.+)\)$/, "-$1")
    .replace("−", "-")
    .replace(/^([+-]?)\s*[¥$€£]\s*/, "$1")
    .replace(/\s*[¥$€£%元]$/, "");
  return text.replace(/(?<=\d)[\s'’](?=\d{3}(?!\d))/g, "");
}

function numberOf(text: string, style: Style): CellNumber | undefined {
  const found = patterns[style].exec(text);
  if (found === null) return undefined;
  const plain = style === "point" ? text.replaceAll(",", "") : text.replaceAll(".", "").replace(",", ".");
  return { value: Number(plain), decimals: (found[1] ?? found[2] ?? "").length };
}
