import { isUtf8 } from "node:buffer";
import { exactText, guessEncoding, isChineseByChance, isLittle, tellingLines } from "./guess.ts";
import { binaryEndings } from "./magic.ts";

/** `encoding` is a label that TextDecoder knows. */
export type DecodedText = {
  readonly text: string;
  readonly encoding: string;
  readonly hasBom: boolean;
  /** Every byte stood for a character; otherwise `text` has U+FFFD in place of some. */
  readonly isExact: boolean;
  /** There was so little to tell the encoding by that it may be another one: nothing should be converted by it. */
  readonly isGuess: boolean;
};

/** `isCut`: these are the first bytes of something longer, whose last character may be half. */
export type DecodeOptions = { readonly isCut?: boolean };

/** The text that these bytes are, in whatever encoding; undefined when they are no text. */
export function decodeText(data: Uint8Array, { isCut = false }: DecodeOptions = {}): DecodedText | undefined {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const marked = byteOrderMarks.find(({ mark }) => bytes.subarray(0, mark.length).equals(mark));
  if (marked !== undefined) return decodeMarked(bytes, marked.encoding, isCut);
  if (binaryEndings(bytes.subarray(0, headBytes)) !== undefined) return undefined;
  if (bytes.subarray(0, headBytes).includes(0)) return decodeUtf16(bytes, isCut);
  const whole = isCut ? withoutHalfCharacter(bytes) : bytes;
  if (!isUtf8(whole)) return decodeOther(bytes, isCut);
  const isChinese = isChineseByChance(whole);
  const decoded = isChinese ? decode(bytes, "gb18030", isCut) : decode(whole, "utf-8", false);
  return hasControls(decoded.text, utf8ControlsMax) ? undefined : { ...decoded, isGuess: isChinese };
}

/** Whether bytes without a NUL are UTF-8, and not some other text whose bytes are so by chance. */
export function isSurelyUtf8(bytes: Buffer): boolean {
  return isUtf8(bytes) && !isChineseByChance(bytes);
}

/** A NUL in here means that this is no text, unless it is UTF-16. */
const headBytes = 8_192;
/** The share of control characters that a text may have: some formats separate their fields by them. */
export const utf8ControlsMax = 0.1;
/** Bytes that are no UTF-8 are more likely to be no text at all. */
const otherControlsMax = 0.02;

const byteOrderMarks: readonly { readonly encoding: string; readonly mark: Buffer }[] = [
  { encoding: "utf-8", mark: Buffer.from([0xef, 0xbb, 0xbf]) },
  { encoding: "utf-16le", mark: Buffer.from([0xff, 0xfe]) },
  { encoding: "utf-16be", mark: Buffer.from([0xfe, 0xff]) },
];

function decodeMarked(bytes: Buffer, encoding: string, isCut: boolean): DecodedText | undefined {
  const decoded = decode(bytes, encoding, isCut);
  return hasControls(decoded.text, utf8ControlsMax) ? undefined : { ...decoded, hasBom: true };
}

/** Which half of the characters is zero tells the byte order, but only a reading that makes sense is one. */
function decodeUtf16(bytes: Buffer, isCut: boolean): DecodedText | undefined {
  const sample = bytes.subarray(0, headBytes);
  const readings = ["utf-16le", "utf-16be"].map((encoding) => {
    const { text, isExact } = decode(sample, encoding, isCut || sample.length < bytes.length);
    const isSense = isExact && !oddInUtf16.test(text) && !hasControls(text, 0);
    return { encoding, weight: isSense ? countOf(text, usualInUtf16) : 0 };
  });
  const best = readings.reduce((one, other) => (other.weight > one.weight ? other : one));
  if (best.weight === 0) return undefined;
  const decoded = decode(bytes, best.encoding, isCut);
  return hasControls(decoded.text, otherControlsMax) ? undefined : decoded;
}

/** Numbers and machine code read as UTF-16 are full of these. */
const oddInUtf16 = /[\p{Co}\p{Cn}]/u;
const usualInUtf16 = /[\n -~\u3000-\u3002\uff0c]/g;

/** Cuts off the beginning of a character at the end. */
function withoutHalfCharacter(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? bytes.subarray(0, -back) : bytes;
  }
  return bytes;
}

function decodeOther(bytes: Buffer, isCut: boolean): DecodedText | undefined {
  const sample = tellingLines(bytes);
  // Damaged UTF-8, and UTF-8 with lines in something else, is more use as UTF-8 than as a misreading of all of it.
  const asUtf8 = decode(sample, "utf-8", false).text;
  const isDamaged = countOf(asUtf8, lost) <= countOf(asUtf8, /[^\p{ASCII}\uFFFD]/gu) * lostMax;
  const encoding = isDamaged ? "utf-8" : guessEncoding(sample, isCut);
  if (encoding === undefined) return undefined;
  const decoded = { ...decode(bytes, encoding, isCut), isGuess: !isDamaged && isLittle(bytes) };
  const isBroken = !decoded.isExact && countOf(decoded.text, lost) > decoded.text.length * lostMax;
  return isBroken || hasControls(decoded.text, otherControlsMax) ? undefined : decoded;
}

const lost = /\uFFFD/g;
/** The share of characters that may be lost in a text that is damaged, or mixed. */
const lostMax = 0.1;

function decode(bytes: Uint8Array, encoding: string, isCut: boolean): DecodedText {
  const exact = exactText(bytes, encoding, isCut);
  const text = exact ?? new TextDecoder(encoding).decode(bytes, { stream: isCut });
  return { text, encoding, hasBom: false, isExact: exact !== undefined, isGuess: false };
}

/** Looked at from the beginning: the rest of a long text is like it. */
const controlsLookedAtMax = 65_536;

function hasControls(text: string, shareMax: number): boolean {
  const end = Math.min(text.length, controlsLookedAtMax);
  let count = 0;
  for (let index = 0; index < end; index += 1) {
    const code = text.charCodeAt(index);
    if (isControl(code) || (code >= 0x80 && code <= 0x9f)) count += 1;
  }
  return count > end * shareMax;
}

/** Tabs, line and page ends, backspace and escape are not meant: they belong to texts of terminals and printers. */
export function isControl(code: number): boolean {
  return (code < 0x20 && !(code >= 0x08 && code <= 0x0d) && code !== 0x1b) || code === 0x7f;
}

function countOf(text: string, pattern: RegExp): number {
  let count = 0;
  for (const _ of text.matchAll(pattern)) count += 1;
  return count;
}
