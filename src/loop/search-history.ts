import { type EventOf, type LogEvent, ownWordsOf } from "../protocol/events.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { cutAround, type HistoryHit, type HistoryHits, type HistoryQuery } from "../tools/tools.ts";
import { withoutMarks } from "../words/words.ts";
import type { Parts } from "./parts.ts";

/** Whoever has more than this finds what is newest. */
const conversationsMax = 200;
const eventsMax = 100_000;
const textBytesMax = 64 * 1024 * 1024;
const searchMsMax = 10_000;
const linesAround = 2;
const lineBytesMax = 300;

/** What has all of the words, in this conversation and then in the user's others, also what was left out to make room. */
export async function searchHistory(
  parts: Pick<Parts, "log" | "clock">,
  conversation: ConversationRow,
  { words, hitsMax, signal }: HistoryQuery & { readonly signal: AbortSignal },
): Promise<HistoryHits> {
  const { log, clock } = parts;
  const wanted = words.map((word) => word.toLowerCase());
  const endsAt = clock.monotonic() + searchMsMax;
  const listed = await log.list(conversation.owner, { limit: conversationsMax });
  const others = listed.filter(({ number }) => number !== conversation.number);
  const hits: HistoryHit[] = [];
  const found = { hits, total: 0, conversations: 0 };
  let [eventsLeft, bytesLeft] = [eventsMax, textBytesMax];
  for (const row of [conversation, ...others]) {
    eventsLeft -= await log.headOf(row.number);
    const isOver = eventsLeft < 0 || bytesLeft < 0 || clock.monotonic() > endsAt || signal.aborted;
    // However long this conversation is: it was read as a whole when its turn began.
    if (isOver && row !== conversation) return { ...found, isStopped: true };
    found.conversations += 1;
    for (const said of await saidIn(parts, row)) {
      bytesLeft -= said.text.length;
      const lower = said.text.toLowerCase();
      if (!wanted.every((word) => lower.includes(word))) continue;
      found.total += 1;
      if (hits.length >= hitsMax) continue;
      const other = row === conversation ? undefined : { id: row.id, title: row.title };
      hits.push({ conversation: other, at: said.at, who: said.who, text: around(said.text, wanted) });
    }
  }
  return { ...found, isStopped: listed.length === conversationsMax };
}

type Said = Pick<HistoryHit, "at" | "who" | "text">;

/** What counts of a conversation, newest first: what a person undid or withdrew stays away. */
async function saidIn({ log }: Pick<Parts, "log">, { number }: ConversationRow): Promise<Said[]> {
  const events = await log.effective(number, Number.MAX_SAFE_INTEGER);
  const tools = new Map(
    events
      .flatMap((event) => (event.type === "message.assistant" ? (event.calls ?? []) : []))
      .map((call) => [call.id, call.name]),
  );
  const withdrawn = new Set(events.map((event) => (event.type === "message.withdrawn" ? event.id : undefined)));
  return events.flatMap((event) => saidBy(event, { tools, withdrawn })).toReversed();
}

/** Tools that only repeat what was said elsewhere. */
const echoes: ReadonlySet<string> = new Set(["search_history", "recall", "todo_write", "todo_read", "compact_context"]);

type Seen = { readonly tools: ReadonlyMap<string, string>; readonly withdrawn: ReadonlySet<string | undefined> };

function saidBy(event: LogEvent, { tools, withdrawn }: Seen): Said[] {
  const { at } = event;
  if (event.type === "message.user")
    return withdrawn.has(event.id) ? [] : [{ at, who: "user", text: ownWordsOf(event) }];
  if (event.type === "message.assistant") return event.text === "" ? [] : [{ at, who: "agent", text: event.text }];
  if (event.type !== "call.finished") return [];
  return resultSaid(event, tools.get(event.call));
}

function resultSaid({ at, outcome, text }: EventOf<"call.finished">, tool = ""): Said[] {
  if (outcome !== "ok" || echoes.has(tool)) return [];
  return [{ at, who: { tool }, text: withoutMarks(text) }];
}

/** Results may have very many lines. */
const linesLookedAtMax = 50_000;

/** The line that has most of the words, with some lines around it. */
function around(text: string, words: readonly string[]): string {
  const lines = text.split("\n");
  const counts = lines.slice(0, linesLookedAtMax).map((line) => wordsIn(line, words).length);
  const best = counts.indexOf(Math.max(...counts));
  return lines
    .slice(Math.max(0, best - linesAround), best + linesAround + 1)
    .map((line) => cutAround(line, wordsIn(line, words)[0] ?? 0, lineBytesMax))
    .join("\n");
}

/** Where each word stands that is there. */
function wordsIn(line: string, words: readonly string[]): number[] {
  const lower = line.toLowerCase();
  return words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
}
