import type { Archive } from "../packed/archive.ts";
import { readXml } from "../packed/xml.ts";

/** How a number is meant: all that a sheet holds of a date is a number and a style. */
export type NumberKind = "number" | "date" | "time" | "duration" | "percent";

/** By the number of a cell's style. */
export function readFormats(archive: Archive, part: string | undefined): readonly NumberKind[] {
  const codes = new Map<number, string>();
  const kinds: NumberKind[] = [];
  let isInCells = false;
  if (part !== undefined)
    readXml(archive, part, {
      open(name, attributes) {
        const id = Number(attributes.get("numFmtId") ?? "0");
        if (name === "numFmt") codes.set(id, attributes.get("formatCode") ?? "");
        else if (name === "cellXfs") isInCells = true;
        else if (name === "xf" && isInCells) kinds.push(kindOf(id, codes.get(id)));
      },
      close: (name) => {
        if (name === "cellXfs") isInCells = false;
      },
    });
  return kinds;
}

function kindOf(id: number, code: string | undefined): NumberKind {
  if (code === undefined) {
    if (id === 9 || id === 10) return "percent";
    if (id === 46) return "duration";
    if ((id >= 18 && id <= 21) || id === 45 || id === 47) return "time";
    return (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58) ? "date" : "number";
  }
  if (/\[(?:h+|m+|s+)\]/i.test(code)) return "duration";
  // Without texts, colours, conditions and padding; what is left of a date are its letters.
  const bare = code.replaceAll(/"[^"]*"|\\.|\[[^\]]*\]|[_*]./g, "");
  if (/[yd]/i.test(bare) || /m/i.test(bare.replaceAll(/[hs]+[^a-z]*m+|m+[^a-z]*s+/gi, "")))
    return /general/i.test(bare) ? "number" : "date";
  if (/[hs]/i.test(bare)) return "time";
  return bare.includes("%") ? "percent" : "number";
}

/** A number as the program would show it, nearly: dates as 2024-03-01, and integers as they are written. */
export function numberText(written: string, kind: NumberKind, is1904: boolean): string {
  const value = Number(written);
  if (written.trim() === "" || !Number.isFinite(value)) return written;
  switch (kind) {
    case "number":
      return plainNumber(written, value);
    case "percent":
      return `${plainNumber("", value * 100)}%`;
    case "duration":
      return durationText(value);
    case "date":
    case "time":
      return dateText(value, kind, is1904) ?? written;
  }
}

/** What a sheet shows; behind them stands what binary fractions leave over. */
const digitsShown = 15;

function plainNumber(written: string, value: number): string {
  if (/^-?\d+$/.test(written)) return written;
  return String(Number(value.toPrecision(digitsShown)));
}

const daySeconds = 86_400;

function durationText(days: number): string {
  const seconds = Math.round(Math.abs(days) * daySeconds);
  return `${days < 0 ? "-" : ""}${Math.floor(seconds / 3_600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

/** The last day of the year 9999. */
const daysMax = 2_958_465;

function dateText(days: number, kind: "date" | "time", is1904: boolean): string | undefined {
  if (days < 0 || days > daysMax) return undefined;
  const seconds = Math.round(days * daySeconds);
  const [day, rest] = [Math.floor(seconds / daySeconds), seconds % daySeconds];
  const time = `${two(Math.floor(rest / 3_600))}:${two(Math.floor(rest / 60) % 60)}:${two(rest % 60)}`;
  if (kind === "time" && day === 0) return time;
  const date = is1904 ? dayAfter(Date.UTC(1904, 0, 1), day) : date1900(day);
  return rest === 0 ? date : `${date} ${time}`;
}

/** For these sheets 1900 was a leap year: the 60th day is one that never was. */
function date1900(day: number): string {
  if (day === 60) return "1900-02-29";
  return dayAfter(Date.UTC(1899, 11, day < 60 ? 31 : 30), day);
}

function dayAfter(start: number, days: number): string {
  return new Date(start + days * daySeconds * 1_000).toISOString().slice(0, 10);
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
