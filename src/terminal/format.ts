import { sizeText, type Words } from "../words/words.ts";

/** Local wall time for people: 2026-11-15 06:09. */
export function formatTime(ms: number): string {
  const date = new Date(ms);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** 12 ms, 3.4 s, 2 min 5 s. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** 12 bytes, 3.4 KB, 100 MB. */
export function formatBytes(bytes: number, { terminal }: Words): string {
  return sizeText(bytes, terminal.files.bytes);
}

/** One line of JSON. The two separators that some readers take for a line's end are written as escapes. */
export function jsonLine(value: unknown): string {
  const text = JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
  return `${text}\n`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
