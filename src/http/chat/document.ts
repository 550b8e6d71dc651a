import type { ChatDocument, ChatKey } from "../../protocol/chat.ts";
import type { LogEvent } from "../../protocol/events.ts";
import { type Change, type ChangesOptions, TurnChanges } from "./changes.ts";
import { firstDocument } from "./first-document.ts";

/** The document of a turn as far as these events tell it. The same events give the same bytes. */
export function documentOf(conversation: string, options: ChangesOptions, events: readonly LogEvent[]): ChatDocument {
  const document = firstDocument(conversation, options.place);
  const turn = new TurnChanges(options);
  for (const event of events) for (const change of turn.addEvent(event)) applyChange(document, change);
  return document;
}

/** Carries a change out in a document that is our own. */
export function applyChange(document: ChatDocument, { key, content, action }: Change): void {
  const last = key.at(-1);
  const parent = key.slice(0, -1).reduce(memberOf, document);
  if (last === undefined || !isHolder(parent)) throw new Error(`no such place in a document: ${JSON.stringify(key)}`);
  const before = parent[last];
  // What was made once is not changed through another document that shows it.
  const whole = typeof content === "object" ? structuredClone(content) : content;
  parent[last] =
    action === "append" && typeof before === "string" && typeof content === "string" ? before + content : whole;
}

function memberOf(value: unknown, name: ChatKey[number]): unknown {
  return isHolder(value) ? value[name] : undefined;
}

function isHolder(value: unknown): value is Record<string | number, unknown> {
  return typeof value === "object" && value !== null;
}
