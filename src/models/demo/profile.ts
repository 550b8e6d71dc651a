import { columnReader, isMissing } from "./numbers.ts";
import { parseTable } from "./table.ts";

/** What the numbers of a table say, column by column. */
export type Profile = {
  readonly rows: number;
  readonly columns: readonly NumberColumn[];
  /** Names of the columns that hold no numbers. */
  readonly others: readonly string[];
  /** Cells of number columns that are neither a number nor empty. */
  readonly unread: number;
};

export type NumberColumn = {
  /** Empty where the table does not name it; `place` counts from 1. */
  readonly name: string;
  readonly place: number;
  readonly count: number;
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly sum: number;
  /** Digits after the point that its cells have at the most. */
  readonly decimals: number;
};

/** A column counts as numbers when that many of its filled cells are. */
const numberShareMin = 0.8;

export function profileTable(text: string): Profile {
  const table = parseTable(text);
  const read = columnReader(table);
  const header = table.rows[0] ?? [];
  const hasNames =
    header.some((cell) => isName(cell, read)) && header.every((cell) => isName(cell, read) || isYear(cell));
  const rows = hasNames ? table.rows.slice(1) : table.rows;
  const width = table.rows.reduce((widest, row) => Math.max(widest, row.length), 0);

  const columns: NumberColumn[] = [];
  const others: string[] = [];
  let unread = 0;
  for (let place = 1; place <= width; place += 1) {
    const name = hasNames ? (header[place - 1] ?? "").trim() : "";
    const filled = rows.map((row) => row[place - 1] ?? "").filter((cell) => !isMissing(cell));
    const numbers = filled.flatMap((cell) => read(cell) ?? []);
    if (numbers.length > 0 && numbers.length / filled.length >= numberShareMin) {
      columns.push({ name, place, ...summary(numbers) });
      unread += filled.length - numbers.length;
    } else if (name !== "") others.push(name);
  }
  return { rows: rows.length, columns, others, unread };
}

type Read = ReturnType<typeof columnReader>;

function isName(cell: string, read: Read): boolean {
  return cell.trim() === "" || read(cell) === undefined;
}

/** Years are numbers that often stand over columns. */
function isYear(cell: string): boolean {
  return /^\s*(19|20)\d\d\s*$/.test(cell);
}

function summary(numbers: readonly { value: number; decimals: number }[]): Omit<NumberColumn, "name" | "place"> {
  let [min, max, decimals] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  for (const number of numbers) {
    min = Math.min(min, number.value);
    max = Math.max(max, number.value);
    decimals = Math.max(decimals, number.decimals);
  }
  const sum = sumOf(numbers.map(({ value }) => value));
  return { count: numbers.length, min, max, mean: sum / numbers.length, sum, decimals };
}

/** With what rounding lost carried along (Neumaier), so that cents add up. */
function sumOf(values: readonly number[]): number {
  let sum = 0;
  let lost = 0;
  for (const value of values) {
    const next = sum + value;
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
  }
  return sum + lost;
}
