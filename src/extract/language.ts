import type { Block } from "./extracted.ts";

/** Looked at: so much of a text tells its language, wherever in it. */
const sampleCharacters = 60_000;
const lettersMin = 40;

/** The language that most of a document is in, by its script and its smallest words; undefined where that cannot be told. */
export function languageOf(blocks: readonly Block[]): string | undefined {
  const text = sampleOf(blocks);
  const scripts = Object.entries(scriptPatterns).map(([script, pattern]) => ({
    script,
    count: lettersOf(text, pattern),
  }));
  const letters = scripts.reduce((sum, { count }) => sum + count, 0);
  if (letters < lettersMin) return undefined;
  const share = (script: string) => (scripts.find((one) => one.script === script)?.count ?? 0) / letters;
  // Manuals in Chinese and Japanese are full of Latin names: few letters of their own say enough.
  if (share("kana") > 0.05) return "ja";
  if (share("hangul") > 0.2) return "ko";
  if (share("han") > 0.15) return chineseOf(text);
  for (const [script, language] of Object.entries(byScript)) if (share(script) > 0.5) return language;
  return share("latin") > 0.8 ? latinOf(text) : undefined;
}

/** From the beginning, the middle and the end: the first pages are often in another language. */
function sampleOf(blocks: readonly Block[]): string {
  const each = Math.max(1, Math.floor(blocks.length / samplesMax));
  let sample = "";
  for (let index = 0; index < blocks.length && sample.length < sampleCharacters; index += each) {
    const block = blocks[index];
    if (block !== undefined && block.kind !== "code") sample += `${block.text.slice(0, blockCharactersMax)}\n`;
  }
  return sample;
}

const samplesMax = 400;
const blockCharactersMax = 2_000;

const scriptPatterns = {
  latin: /\p{Script=Latin}+/gu,
  han: /\p{Script=Han}+/gu,
  kana: /[\p{Script=Hiragana}\p{Script=Katakana}]+/gu,
  hangul: /\p{Script=Hangul}+/gu,
  cyrillic: /\p{Script=Cyrillic}+/gu,
  greek: /\p{Script=Greek}+/gu,
  arabic: /\p{Script=Arabic}+/gu,
  hebrew: /\p{Script=Hebrew}+/gu,
  thai: /\p{Script=Thai}+/gu,
  devanagari: /\p{Script=Devanagari}+/gu,
} as const;
/** One language stands for a script only where it is by far the most likely: what Cyrillic or Arabic is, is not said. */
const byScript: Readonly<Record<string, string>> = { greek: "el", hebrew: "he", thai: "th" };

/** Letters that only one way of writing Chinese has, among the most usual ones. */
function chineseOf(text: string): string {
  const simplified = countOf(text, /[这们国时说为个对会来发过还进动现开关实产业应务两]/gu);
  const traditional = countOf(text, /[這們國時說為個對會來發過還進動現開關實產業應務兩]/gu);
  return traditional > simplified ? "zh-Hant" : "zh";
}

const smallWords: Readonly<Record<string, ReadonlySet<string>>> = {
  en: new Set("the and of to is that with for this are".split(" ")),
  de: new Set("der die und das ist nicht mit den ein zu".split(" ")),
  fr: new Set("le les des est une pour dans que et vous".split(" ")),
  es: new Set("el los las que una por con para del es".split(" ")),
  pt: new Set("os uma não para com que em do da é".split(" ")),
  it: new Set("il che di per una con non sono della gli".split(" ")),
  nl: new Set("het een van de en niet dat voor met zijn".split(" ")),
};
/** The best must be so much better than the next, and be met so often among words. */
const clearlyMore = 1.4;
const smallShareMin = 0.05;
const smallWordsMin = 5;

function latinOf(text: string): string | undefined {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const [best, next] = Object.entries(smallWords)
    .map(([language, small]) => ({ language, count: words.filter((word) => small.has(word)).length }))
    .toSorted((one, other) => other.count - one.count);
  if (best === undefined || best.count < Math.max(smallWordsMin, smallShareMin * words.length)) return undefined;
  return best.count >= clearlyMore * (next?.count ?? 0) ? best.language : undefined;
}

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

/** In stretches, of which there are far fewer. */
function lettersOf(text: string, pattern: RegExp): number {
  return (text.match(pattern) ?? []).reduce((sum, stretch) => sum + stretch.length, 0);
}
