import type { History } from "../log/log.ts";

const snippetCharacters = 120;

export function snippet(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= snippetCharacters ? line : `${line.slice(0, snippetCharacters - 1)}…`;
}

/** What was said last, for the list. */
export function lastText(history: History): string {
  return history.messages.findLast((message) => message.role !== "tool")?.text ?? "";
}
