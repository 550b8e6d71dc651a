import { failed, ok, type Result } from "../../base/result.ts";
import { decodeText } from "../decode.ts";
import type { Receipt } from "../extracted.ts";
import { charactersMax, lineCharactersMax } from "../limits.ts";
import type { Losses } from "../losses.ts";
import type { Unreadable } from "../reading.ts";

export type Line = { readonly text: string; readonly number: number };
export type Lines = { readonly text: string; readonly lines: readonly Line[] } & Pick<Receipt, "encoding" | "stopped">;

/** The lines of a text in whatever encoding, as far as the limits go; a line that is too long becomes several. */
export function linesOf(bytes: Uint8Array, losses: Losses): Result<Lines, Unreadable> {
  const decoded = decodeText(bytes);
  if (decoded === undefined) return failed({ why: "unknown", type: "binary" });
  if (!decoded.isExact) losses.add("undecodable_characters", {});
  const isLong = decoded.text.length > charactersMax;
  const text = (isLong ? decoded.text.slice(0, charactersMax).toWellFormed() : decoded.text).replaceAll(/\r\n?/g, "\n");
  const lines: Line[] = [];
  let number = 0;
  for (const line of text.split("\n")) {
    number += 1;
    if (line.length > lineCharactersMax) losses.add("long_lines", { line: number });
    for (let from = 0; from === 0 || from < line.length; from += lineCharactersMax)
      lines.push({ text: line.slice(from, from + lineCharactersMax), number });
  }
  const stopped = isLong ? { stopped: { limit: "characters", at: { line: number } } } : {};
  return ok({ text, lines, encoding: decoded.encoding, ...stopped });
}
