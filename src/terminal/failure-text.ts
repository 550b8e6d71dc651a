import type { ClientFailure } from "../client/client.ts";
import type { Failure } from "../protocol/failure.ts";
import { failureWords, type Words } from "../words/words.ts";
import { asTyped } from "./own-command.ts";
import { safeLine } from "./safe-text.ts";

type Stored = { readonly code: string; readonly params: object };
type AnyFailure = Failure | ClientFailure | Stored;

/** A failure of ours, of the server or from a log, on one line: what happened, and what to do next. */
export function failureText(words: Words, failure: AnyFailure): string {
  const text = "detail" in failure ? failure.detail : sentences(words, failureWords(words, failure));
  return asTyped(words, safeLine(text, 600));
}

/** The same where no chat is open: its commands cannot be typed there. */
export function commandFailureText(words: Words, failure: AnyFailure): string {
  const { listHint, rulesHint } = words.terminal.usage;
  const hints: Readonly<Record<string, () => string>> = { conversation_not_found: listHint, rule_not_found: rulesHint };
  const hint = hints[failure.code];
  if (hint === undefined) return failureText(words, failure);
  const [what] = failureWords(words, failure);
  return asTyped(words, safeLine(sentences(words, [what, hint()]), 600));
}

/** What a server said comes as it is, often without a full stop. */
function sentences({ terminal }: Words, [what, next]: readonly [what: string, next: string]): string {
  if (next === "") return what;
  return `${what}${/[.!?…。！？]$/.test(what) ? "" : terminal.fullStop}${terminal.gap}${next}`;
}
