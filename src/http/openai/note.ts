import { asksForWords } from "../../protocol/approval.ts";
import type { EventOf } from "../../protocol/events.ts";
import type { GivenMessage } from "../../protocol/given.ts";
import { type Language, wordsFor } from "../../words/words.ts";

/** So much of what a tool would do is shown: enough to decide on, and all of it is in the inbox. */
const argumentsCharactersMax = 2_000;

/**
 * What waits for a person and how to answer it, in the place of an answer. Its last lines say where, so that a caller
 * that sends it back in its history goes on in the same conversation.
 */
export function waitingNote(
  conversation: string,
  open: readonly EventOf<"decision.asked">[],
  language: Language,
): string {
  const { callers: words } = wordsFor(language);
  const lines = open.flatMap(({ id, kind, tool, arguments: args = "{}", question = "" }) => [
    `- ${asksForWords(kind) ? question : words.approval({ tool, arguments: cut(args) })}`,
    `  POST /api/v1/conversations/${conversation}/decisions/${id}`,
  ]);
  return [words.waits({ count: open.length }), ...lines, words.how()].join("\n");
}

function cut(text: string): string {
  return text.length > argumentsCharactersMax ? `${text.slice(0, argumentsCharactersMax)}…` : text;
}

/** The conversation that was waiting when the last answer was given, if the user has said one thing since. */
export function conversationNoted(messages: readonly GivenMessage[]): string | undefined {
  const [answer, last] = messages.slice(-2);
  if (answer?.role !== "assistant" || last?.role !== "user") return undefined;
  return /\n {2}POST \/api\/v1\/conversations\/([^/\s]+)\/decisions\/[^/\s]+\n[^\n]+$/.exec(answer.text)?.[1];
}
