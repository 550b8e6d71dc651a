import type { ClientFailure } from "../client/client.ts";
import type { Failure } from "../protocol/failure.ts";
import { failureWords, type Words } from "../words/words.ts";
import { safeLine } from "./safe-text.ts";

type Stored = { readonly code: string; readonly params: object };

/** A failure of ours, of the server or from a log, on one line: what happened, and what to do next. */
export function failureText(words: Words, failure: Failure | ClientFailure | Stored): string {
  const text = "detail" in failure ? failure.detail : failureWords(words, failure).join(words.terminal.gap);
  return safeLine(text, 600);
}
