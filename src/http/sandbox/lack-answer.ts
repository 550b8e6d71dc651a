import type { Lack } from "../../sandbox/sandbox.ts";
import { type Language, lackTexts, wordsFor } from "../../words/words.ts";

/** What this machine lacks, in the caller's language. */
export function toLack(
  { name, about, ...own }: Lack,
  language: Language,
): { [K in "name" | "reason" | "fix"]: string } {
  const [reason, fix] = lackTexts(wordsFor(language).sandbox.lacks, { ...own, lack: name, ...about });
  return { name, reason, fix };
}
