import type { Lack, LackAbout, LackName } from "../../sandbox/sandbox.ts";
import { type Language, wordsFor } from "../../words/words.ts";

/** What this machine lacks, in the caller's language. */
export function toLack(
  { name, reason, fix, about }: Lack,
  language: Language,
): { [K in "name" | "reason" | "fix"]: string } {
  if (about === undefined) return { name, reason, fix };
  const texts: Readonly<Record<LackName, (about: LackAbout) => readonly string[]>> = wordsFor(language).sandbox.lacks;
  const [why = reason, what = fix] = texts[name](about);
  return { name, reason: why, fix: what };
}
