/** Scripts that are written without spaces, or are searched by parts of words. */
const script = String.raw`[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}ー]`;
/** Such text in one stretch; a line may end in the middle of a word. */
export const runPattern = new RegExp(`${script}(?:\\s{0,2}${script})*`, "gu");
export const anyOfRuns = new RegExp(script, "u");

/** Cuts a stretch of such text into what it can be found by. */
export type CutRun = (run: string) => readonly string[];

/** Folded text as it is given to FTS5, which takes what stands between spaces for words. */
export function indexedText(folded: string, cutRun: CutRun): string {
  return folded.replaceAll(runPattern, (run) => ` ${cutRun(run.replaceAll(/\s/g, "")).join(" ")} `);
}

/**
 * Each two neighbours, and the last character alone: with it every single character begins some word of the index, and
 * is found by its beginning.
 */
export const cutIntoPairs: CutRun = (run) => {
  const characters = [...run];
  return characters.map((character, index) => character + (characters[index + 1] ?? ""));
};
