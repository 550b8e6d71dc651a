import type { Failure } from "../../src/protocol/failure.ts";
import type { Problem } from "../../src/protocol/resources.ts";
import { failureWordsOverHttp, wordsFor } from "../../src/words/words.ts";

/** What the server answers to whom it tells of this failure, in English. */
export function problemFor(failure: Failure, status: number): Problem {
  const { code, params, retryable } = failure;
  const [title, next] = failureWordsOverHttp(wordsFor("en"), failure);
  const type = `urn:agentyard:failure:${code}`;
  return { type, title, status, code, detail: `${title} ${next}`, params, retryable, requestId: "r" };
}
