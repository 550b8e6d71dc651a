import type { Failure } from "../../src/protocol/failure.ts";
import type { Problem } from "../../src/protocol/resources.ts";
import { failureWordsOverHttp, type Language, wordsFor } from "../../src/words/words.ts";

/** What the server answers to whom it tells of this failure. */
export function problemFor(failure: Failure, status: number, language: Language = "en"): Problem {
  const { code, params, retryable } = failure;
  const words = wordsFor(language);
  const [title, next] = failureWordsOverHttp(words, failure);
  const type = `urn:agentyard:failure:${code}`;
  return {
    type,
    title,
    status,
    code,
    detail: `${title}${words.terminal.gap}${next}`,
    params,
    retryable,
    requestId: "r",
  };
}
