import type { EventOf, LogEvent } from "../protocol/events.ts";
import { withoutMarks } from "../words/words.ts";
import { type Chat, sayFailure } from "./chat-state.ts";
import { safeText } from "./safe-text.ts";
import { readAll } from "./said-before.ts";

/** `/compact`, `/compact FOCUS`, `/compact show`, `/compact undo`. */
export async function compact(chat: Chat, argument: string): Promise<undefined> {
  const { client, console, current, style, words } = chat;
  const { compact: texts } = words.terminal;
  await current.whenSent;
  if (!current.isStored) return void console.say(texts.nothing({ messages: 0 }));
  if (argument === "show") return showSummary(chat);
  if (argument === "undo") return undoCompaction(chat);
  console.status(style.dim(texts.making()));
  const body = argument === "" ? {} : { focus: argument };
  const made = await client.call("compactConversation", { params: { id: current.id }, body });
  console.status(undefined);
  if (!made.ok) return sayFailure(chat, made.failure);
  const { seq, strategy, messagesBefore: messages } = made.value;
  // What was done is told by its event, here as on every other surface.
  if (seq !== null) return;
  console.say(strategy === "fallback" ? texts.noSummary() : texts.nothing({ messages }));
}

async function showSummary(chat: Chat): Promise<undefined> {
  const { client, console, current, words } = chat;
  const events = await readAll(client, current.id);
  if (!events.ok) return sayFailure(chat, events.failure);
  const newest = standingCompaction(events.value);
  console.say(newest === undefined ? words.terminal.compact.notYet() : safeText(withoutMarks(newest.summary)));
}

async function undoCompaction(chat: Chat): Promise<undefined> {
  const { client, console, current, words } = chat;
  const undone = await client.call("undoCompaction", { params: { id: current.id } });
  if (!undone.ok) return sayFailure(chat, undone.failure);
  console.say(words.terminal.compact.undone());
}

/** The newest one that stands for something and was not undone; what was gone back behind does not count, for either. */
export function standingCompaction(events: readonly LogEvent[]): EventOf<"compacted"> | undefined {
  let made: EventOf<"compacted">[] = [];
  let undone: EventOf<"compaction.undone">[] = [];
  for (const event of events) {
    if (event.type === "compacted" && event.summary !== "") made.push(event);
    if (event.type === "compaction.undone") undone.push(event);
    if (event.type !== "rewound") continue;
    made = made.filter(({ seq }) => seq <= event.to);
    undone = undone.filter(({ seq }) => seq <= event.to);
  }
  return made.findLast(({ seq }) => !undone.some(({ compacted }) => compacted === seq));
}
