import { type FoundSaid, type Said, saidIn } from "../lookup/lookup.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { cutAround, type HistoryHit, type HistoryHits, type HistoryQuery } from "../tools/tools.ts";
import type { Parts } from "./parts.ts";

/** Without an index, whoever has more than this finds what is newest. */
const conversationsMax = 200;
const eventsMax = 100_000;
const searchMsMax = 10_000;
const linesAround = 2;
const lineBytesMax = 300;

type Wanted = HistoryQuery & { readonly signal: AbortSignal };

/** What has all of the words, in this conversation and then in the user's others, also what was left out to make room. */
export async function searchHistory(
  parts: Pick<Parts, "log" | "clock" | "lookup">,
  conversation: ConversationRow,
  wanted: Wanted,
): Promise<HistoryHits> {
  const { lookup } = parts;
  const words = wanted.words.map((word) => word.toLowerCase());
  const endsAt = parts.clock.monotonic() + searchMsMax;
  const here = await readThrough(parts, conversation, words);
  const others = await lookup.said(conversation.owner, { ...wanted, words, except: conversation });
  const found = others.ok ? others.value : await readOthers(parts, conversation, { ...wanted, words, endsAt });
  const own = here.map((said) => ({ ...said, conversation: undefined }));
  const rest = found.hits.map((hit) => ({
    ...hit,
    conversation: { id: hit.conversation.id, title: hit.conversation.title },
  }));
  return {
    hits: [...own, ...rest].slice(0, wanted.hitsMax).map(
      ({ conversation: where, at, who, text }): HistoryHit => ({
        conversation: where,
        at,
        who,
        text: around(text, words),
      }),
    ),
    total: here.length + found.total,
    conversations: 1 + found.conversations,
    isStopped: found.isStopped,
  };
}

/** What has the words, newest first: what a person undid or withdrew stays away. */
async function readThrough(
  { log }: Pick<Parts, "log">,
  { number }: ConversationRow,
  words: readonly string[],
): Promise<readonly Said[]> {
  const said = saidIn(await log.effective(number, Number.MAX_SAFE_INTEGER));
  return said.filter(({ text }) => words.every((word) => text.toLowerCase().includes(word))).toReversed();
}

/** Where the index cannot be used, log by log: as many as there is time for, the newest first. */
async function readOthers(
  parts: Pick<Parts, "log" | "clock">,
  conversation: ConversationRow,
  { words, hitsMax, signal, endsAt }: Wanted & { readonly endsAt: number },
): Promise<FoundSaid> {
  const { log, clock } = parts;
  const listed = await log.list(conversation.owner, { limit: conversationsMax });
  const found = { hits: [] as FoundSaid["hits"][number][], total: 0, conversations: 0 };
  let eventsLeft = eventsMax - (await log.headOf(conversation.number));
  for (const row of listed.filter(({ number }) => number !== conversation.number)) {
    eventsLeft -= await log.headOf(row.number);
    if (eventsLeft < 0 || clock.monotonic() > endsAt || signal.aborted) return { ...found, isStopped: true };
    const said = await readThrough(parts, row, words);
    found.conversations += 1;
    found.total += said.length;
    const room = Math.max(0, hitsMax - found.hits.length);
    found.hits.push(...said.slice(0, room).map((each) => ({ ...each, conversation: row })));
  }
  return { ...found, isStopped: listed.length === conversationsMax };
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
