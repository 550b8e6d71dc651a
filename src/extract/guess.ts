import { isAscii } from "node:buffer";
import { createRequire } from "node:module";
import { type Language, wordShare } from "./word-share.ts";

/** The likeliest encoding that can stand for these bytes. `isCut`: they may end with half a character. */
export function guessEncoding(sample: Buffer, isCut: boolean): string | undefined {
  return encodingByWords(sample, isCut) ?? encodingByLetters(sample, isCut);
}

/** Some words in GBK are valid UTF-8 by chance: 系统 and 目录, which then read ϵͳ and Ŀ¼. */
export function isChineseByChance(bytes: Buffer): boolean {
  if (isAscii(bytes) || !isLittle(bytes)) return false;
  const sample = tellingLines(bytes);
  const text = sample.toString("utf8");
  if (!rareLetters.test(text) || threeBytes.test(text)) return false;
  return wordShare(exactText(sample, "gb18030", false) ?? "", "chinese") === 1;
}

/** Not Latin, Greek, Cyrillic, Hebrew or Arabic, as they are written every day. */
const rareLetters =
  /[\u013f\u0140\u0149\u017f-\u0383\u03cf-\u03ff\u0460-\u048f\u0500-\u05cf\u05eb-\u060b\u06d4-\u07ff]/;
const threeBytes = /[\u0800-\uffff]/;

/** Whether so few bytes are not ASCII that their encoding can only be a guess. */
export function isLittle(bytes: Buffer): boolean {
  let count = 0;
  for (let index = 0; index < bytes.length && count < highBytesMin; index += 1)
    if ((bytes[index] ?? 0) >= 0x80) count += 1;
  return count < highBytesMin;
}

/** Below this there is little to go by. */
const highBytesMin = 40;

/** What the guess rests on: more makes it slow, not better. */
const sampleBytesMax = 16_384;

/** Lines that are not plain ASCII, from everywhere: a long file may begin with pages of it. No encoding we guess hides a line feed. */
export function tellingLines(bytes: Buffer): Buffer {
  const lines: Buffer[] = [];
  let taken = 0;
  let start = 0;
  for (let index = 0; index < bytes.length && taken < sampleBytesMax; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte === 0x0a) start = index + 1;
    if (byte < 0x80) continue;
    const feed = bytes.indexOf(0x0a, index);
    const line = bytes.subarray(start, Math.min(feed === -1 ? bytes.length : feed + 1, start + sampleBytesMax - taken));
    lines.push(line);
    taken += line.length;
    start += line.length;
    index = start - 1;
  }
  return Buffer.concat(lines);
}

/** The text, when every byte stands for a character. */
export function exactText(bytes: Uint8Array, encoding: string, isCut: boolean): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: isCut });
  } catch {
    return undefined;
  }
}

/** Looked at for words. */
const wordBytesMax = 2_000;

/** The first counts when two make as much sense. Japanese words are short, and found by chance more often. */
const byWords: readonly { encoding: string; language: Language; weight: number }[] = [
  { encoding: "gb18030", language: "chinese", weight: 1 },
  { encoding: "big5", language: "chinese", weight: 1 },
  { encoding: "shift_jis", language: "japanese", weight: 0.85 },
  { encoding: "euc-jp", language: "japanese", weight: 0.85 },
];
const senseMin = 0.5;

/** A word or two tell, where the detector, which counts pairs of letters, needs a page. */
function encodingByWords(sample: Buffer, isCut: boolean): string | undefined {
  const start = sample.subarray(0, wordBytesMax);
  let best: { encoding: string; sense: number } | undefined;
  for (const { encoding, language, weight } of byWords) {
    const text = exactText(start, encoding, isCut || start.length < sample.length);
    const sense = text === undefined ? 0 : wordShare(text, language) * weight;
    if (sense >= senseMin && sense > (best?.sense ?? 0)) best = { encoding, sense };
  }
  return best?.encoding;
}

/** Further down its list the detector names what can stand for any bytes at all. */
const candidatesMax = 4;

/** What the detector says, but for readings that are a jumble of letters. */
function encodingByLetters(sample: Buffer, isCut: boolean): string | undefined {
  const { detectAll } = loadDetector();
  const candidates = detectAll(sample, { minimumThreshold: 0, detectEncodings: [...labels.keys()] })
    .flatMap(({ encoding }) => labels.get(encoding?.toLowerCase() ?? "") ?? [])
    .slice(0, candidatesMax);
  const exact = candidates.filter((encoding) => exactText(sample, encoding, isCut) !== undefined);
  return exact.find((encoding) => !isJumble(exactText(sample, encoding, isCut) ?? "")) ?? exact[0] ?? candidates[0];
}

/** The detector costs a tenth of a second and 60 MB, and most files are UTF-8: it is loaded by the first that needs it. */
function loadDetector(): typeof import("jschardet") {
  return createRequire(import.meta.url)("jschardet");
}

/** The detector's names, as it is asked and as it answers, with what TextDecoder calls them. */
const labels: ReadonlyMap<string, string> = new Map([
  ["gb18030", "gb18030"],
  ["big5", "big5"],
  ["cp932", "shift_jis"],
  ["shift_jis", "shift_jis"],
  ["euc-jp", "euc-jp"],
  ["cp949", "euc-kr"],
  ["euc-kr", "euc-kr"],
  ["cp874", "windows-874"],
  ["tis-620", "windows-874"],
  ["koi8-r", "koi8-r"],
  ["koi8-u", "koi8-u"],
  ...Array.from({ length: 9 }, (_, index): [string, string] => [`windows-125${index}`, `windows-125${index}`]),
  ["cp1258", "windows-1258"],
  ["iso-8859-1", "windows-1252"],
  ["iso-8859-2", "iso-8859-2"],
  ["iso-8859-5", "iso-8859-5"],
  ["iso-8859-7", "iso-8859-7"],
  ["iso-8859-9", "windows-1254"],
]);

/** The share of words that may be odd: every text has some, a misreading has little else. */
const oddWordsMax = 0.3;

function isJumble(text: string): boolean {
  const words = text.match(/[\p{L}\p{M}\p{Co}\u2500-\u259f]+/gu)?.filter((word) => /\P{ASCII}/u.test(word)) ?? [];
  return words.filter((word) => oddWord.test(word)).length > words.length * oddWordsMax;
}

const alphabets = "[\\p{sc=Cyrillic}\\p{sc=Greek}\\p{sc=Hebrew}\\p{sc=Arabic}\\p{sc=Thai}]";
/** A capital behind a small letter, letters of two alphabets, lines of a frame between letters, or what has no meaning at all. */
const oddWord = new RegExp(
  [
    ...["\\p{Ll}(?!\\p{ASCII})\\p{Lu}", "(?!\\p{ASCII})\\p{Ll}\\p{Lu}"],
    ...[`\\p{sc=Latin}.*${alphabets}`, `${alphabets}.*\\p{sc=Latin}`],
    ...["\\p{L}[\\u2500-\\u259f]", "[\\u2500-\\u259f]\\p{L}", "\\p{Co}"],
  ].join("|"),
  "u",
);
