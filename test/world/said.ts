import type { FailureCode } from "../../src/protocol/failure.ts";
import { failureWords, type Language, wordsFor } from "../../src/words/words.ts";

/** What a person reads of a failure where no code is shown: what happened, without what to do next. */
export function saidOf(code: FailureCode, params: object, language: Language = "en"): string {
  return failureWords(wordsFor(language), { code, params })[0];
}
