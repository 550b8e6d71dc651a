import { stripVTControlCharacters } from "node:util";
import { forModels } from "../words/words.ts";

type Said = { readonly text: string; readonly cutBytes: number; readonly path: string | undefined };

/**
 * What a program said as a model reads it: without colours and what a progress bar wrote over, and of what is no text
 * only a glance.
 */
export function plainOutput({ text, cutBytes, path }: Said): string {
  if (!isBinary(text)) return withoutControls(text).replace(/\n+$/, "");
  const head = text.slice(0, glanceMax).toWellFormed().replaceAll(notShown, unknown);
  // What is no text was counted by the signs that stand for it.
  const bytes = Buffer.byteLength(text.replaceAll(unknown, "?")) + cutBytes;
  return `${head}\n${forModels.code.binary(bytes, path)}`;
}

const glanceMax = 200;
/** What the decoder puts in the place of bytes that are no UTF-8. */
const unknown = "\ufffd";
const unknownShareMax = 0.1;
const notShown = /[^\P{Cc}\n\t]/gu;

export function isBinary(text: string): boolean {
  if (text.includes("\0")) return true;
  return text.split(unknown).length - 1 > text.length * unknownShareMax;
}

/** A terminal shows of each line what was written last. */
function withoutControls(text: string): string {
  const lines = stripVTControlCharacters(text).split("\n");
  return lines.map((line) => line.replace(/\r+$/, "").replace(/^.*\r/s, "")).join("\n");
}
