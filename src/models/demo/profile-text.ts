import type { DemoWords } from "./intent.ts";
import type { NumberColumn, Profile } from "./profile.ts";

const columnsMax = 20;
const nameCharactersMax = 40;
/** Digits of a mean beyond those of its column. */
const meanDecimals = 2;
const decimalsMax = 10;

/** The profile as Markdown: what was looked at, a table of the number columns, and what is not in it. */
export function profileText(
  path: string,
  profile: Profile,
  part: { readonly read: number; readonly of: number | undefined } | undefined,
  words: DemoWords,
): string {
  const { rows, columns, others, unread } = profile;
  const shown = columns.slice(0, columnsMax);
  return [
    words.profileHead(path, rows, columns.length),
    ...(shown.length === 0 ? [] : [[headOf(words), ...shown.map((column) => lineOf(column, words))].join("\n")]),
    ...(columns.length > shown.length ? [words.profileMore(columns.length - shown.length)] : []),
    ...(others.length === 0 ? [] : [words.profileOthers(others.slice(0, columnsMax).map(cellText).join(", "))]),
    ...(unread === 0 ? [] : [words.profileUnread(unread)]),
    ...(part === undefined ? [] : [words.profilePart(part.read, part.of)]),
  ].join("\n\n");
}

function headOf(words: DemoWords): string {
  return `| ${words.profileColumns.join(" | ")} |\n| --- |${" ---: |".repeat(words.profileColumns.length - 1)}`;
}

function lineOf({ name, place, count, min, max, mean, sum, decimals }: NumberColumn, words: DemoWords): string {
  const cells = [
    name === "" ? words.profileColumn(place) : cellText(name),
    formatted(count, 0),
    formatted(min, decimals),
    formatted(max, decimals),
    formatted(mean, decimals + meanDecimals),
    formatted(sum, decimals),
  ];
  return `| ${cells.join(" | ")} |`;
}

/** A name that cannot break the table. */
export function cellText(name: string): string {
  const line = name.replaceAll(/\s+/g, " ").replaceAll("|", "\\|");
  return line.length <= nameCharactersMax ? line : `${line.slice(0, nameCharactersMax).toWellFormed()}…`;
}

export function formatted(value: number, decimals: number): string {
  if (Math.abs(value) >= 1e15) return value.toPrecision(6);
  return value.toLocaleString("en-US", { maximumFractionDigits: Math.min(decimals, decimalsMax) });
}
