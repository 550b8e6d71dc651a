import { forModels } from "../words/words.ts";

/** How much of a result a model is shown: a share of its window, within limits; in bytes, four to a token. */
export function outputBytesMax(windowTokens: number): number {
  return Math.min(Math.max(Math.floor(windowTokens * windowShare), outputTokensMin), outputTokensMax) * bytesPerToken;
}

const windowShare = 0.2;
const outputTokensMin = 2_000;
const outputTokensMax = 25_000;
const bytesPerToken = 4;
const headShare = 0.6;

/** Head and tail of a long text with a line between them that says what is missing; never cut inside a character. */
export function boundOutput(raw: string, bytesMax: number): { text: string; isCut: boolean } {
  const text = raw.toWellFormed(); // Half a character is refused by some servers, and with it the whole request.
  if (fitting(text, bytesMax, "head") === text.length) return { text, isCut: false };
  const { head, tail } = endsOf(text, Math.max(bytesMax - noteBytesMax, 0));
  const sizeBytes = Buffer.byteLength(text);
  const missing = sizeBytes - Buffer.byteLength(head) - Buffer.byteLength(tail);
  return { text: `${head}${forModels.partLeftOut(missing, sizeBytes)}${tail}`, isCut: true };
}

const noteBytesMax = 120;

/** The beginning and the end of a text that is longer than this; never a part of a character. */
export function endsOf(text: string, bytesMax: number): { head: string; tail: string } {
  const headBytes = Math.floor(bytesMax * headShare);
  const head = text.slice(0, fitting(text, headBytes, "head"));
  return { head, tail: text.slice(text.length - fitting(text, bytesMax - headBytes, "tail")) };
}

/** The beginning of a text, with dots where something is missing. */
export function shortened(raw: string, bytesMax: number): string {
  return cutAround(raw, 0, bytesMax);
}

const beforeShare = 1 / 3;

/** The part of a text around a place, with dots where something is missing. */
export function cutAround(raw: string, place: number, bytesMax: number): string {
  const text = raw.toWellFormed();
  if (fitting(text, bytesMax, "head") === text.length) return text;
  const before = text.slice(0, isLowSurrogate(text.charCodeAt(place)) ? place - 1 : place);
  const near = before.length - fitting(before, Math.floor(bytesMax * beforeShare), "tail");
  const from = Math.min(near, text.length - fitting(text, bytesMax, "tail")); // Near the end, all the room is before it.
  const part = headOf(text.slice(from), { bytesMax });
  return `${from > 0 ? gap : ""}${part}${from + part.length < text.length ? gap : ""}`;
}

const gap = "...";

/** As much from the beginning as fits; never a part of a character. */
export function headOf(
  text: string,
  { bytesMax, unitsMax = text.length }: { bytesMax: number; unitsMax?: number },
): string {
  const count = Math.min(fitting(text, bytesMax, "head"), unitsMax);
  return text.slice(0, isLowSurrogate(text.charCodeAt(count)) ? count - 1 : count);
}

/** What a text takes of a limit, as it is counted here. */
export function outputBytes(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) bytes += weightOf(text.charCodeAt(index));
  return bytes;
}

/** How many units of the text fit, counted from one end; half of a character is none. */
function fitting(text: string, bytesMax: number, end: "head" | "tail"): number {
  let bytes = 0;
  let count = 0;
  while (count < text.length) {
    bytes += weightOf(text.charCodeAt(end === "head" ? count : text.length - 1 - count));
    if (bytes > bytesMax) break;
    count += 1;
  }
  const cut = end === "head" ? count : text.length - count;
  return isLowSurrogate(text.charCodeAt(cut)) ? count - 1 : count;
}

/**
 * The bytes of one unit, but four for what takes three: a Han character is a whole token, so that the limit holds in
 * tokens as well. Half of a surrogate pair has half of its four bytes.
 */
function weightOf(unit: number): number {
  if (unit < 0x80) return 1;
  return unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 4;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
