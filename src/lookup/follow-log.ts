import { ok, type Result } from "../base/result.ts";
import type { Log } from "../log/log.ts";
import type { LogEvent } from "../protocol/events.ts";
import type { Followed, Search, SearchFailure, Series, SeriesEntry } from "../search/search.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { type Said, saidBy, toolsIn } from "./said.ts";

/** What the index calls words of people and agents, and what tools found. */
export const messageKind = "message";
export const resultKind = "result";

/** Rows of a log read at once, so that nobody else waits for long. */
const eventsAtOnce = 100;
/** Handed to the index at once. */
const charactersAtOnce = 50_000;
/** So much of a message is found, and so much of a result: the rest of that is in a file anyway. */
const messageCharactersMax = 100_000;
const resultCharactersMax = 20_000;
/** Calls get their results soon after they were asked for. */
const eventsLookedBack = 200;

export type FollowingParts = {
  readonly log: Pick<Log, "headOf" | "read">;
  readonly search: Search;
  readonly closing: AbortSignal;
};
export type Following = Result<undefined, SearchFailure>;

/** Brings what a log has beyond the mark of the last time into the index. */
export async function followLog(
  parts: FollowingParts,
  { owner, number, id }: ConversationRow,
  mark: Followed | undefined,
): Promise<Following> {
  const { log, search } = parts;
  const head = await log.headOf(number);
  if (mark?.upTo === head && mark.stamp.startsWith(`${id} `)) return ok(undefined);
  const series = { owner, name: String(number) };
  const isSame = mark !== undefined && mark.upTo < head && (await isStampOf(mark, { log, number, id }));
  if (mark !== undefined && !isSame) {
    const dropped = await search.unfollow(series);
    if (!dropped.ok) return dropped;
  }
  return followFrom(parts, { series, number, id, head, from: isSame ? mark.upTo : 0 });
}

type Stretch = {
  readonly series: Series;
  readonly number: number;
  readonly id: string;
  readonly from: number;
  readonly head: number;
};

/** A backup that was put back may have given the number to another one, or gone on otherwise. */
async function isStampOf(
  { upTo, stamp }: Followed,
  { log, number, id }: Pick<FollowingParts, "log"> & Pick<Stretch, "number" | "id">,
): Promise<boolean> {
  const [event] = await log.read(number, { after: upTo - 1, limit: 1 });
  return event !== undefined && stamp === stampOf(id, event);
}

function stampOf(id: string, { at }: LogEvent): string {
  return `${id} ${at}`;
}

async function followFrom(parts: FollowingParts, stretch: Stretch): Promise<Following> {
  const { log, closing } = parts;
  const { number, from, head } = stretch;
  const after = Math.max(0, from - eventsLookedBack);
  const tools = toolsIn(from === 0 ? [] : await log.read(number, { after, limit: eventsLookedBack, upTo: from }));
  for (let at = from; at < head && !closing.aborted; ) {
    const events = await log.read(number, { after: at, limit: eventsAtOnce, upTo: head });
    const last = events.at(-1);
    // Deleted meanwhile; or nothing of what is left can be read.
    if (last === undefined) return ok(undefined);
    for (const [call, tool] of toolsIn(events)) tools.set(call, tool);
    const taken = await take(parts, stretch, { events, tools });
    if (!taken.ok) return taken;
    at = last.seq;
  }
  return ok(undefined);
}

type Taken = { readonly events: readonly LogEvent[]; readonly tools: ReadonlyMap<string, string> };

async function take({ log, search }: FollowingParts, stretch: Stretch, { events, tools }: Taken): Promise<Following> {
  const { series, number, id } = stretch;
  let entries: SeriesEntry[] = [];
  let characters = 0;
  for (const event of events) {
    const gap = await gapOf(event, { log, number });
    if (gap !== undefined) {
      entries = entries.filter((entry) => entry.id <= gap.after || entry.id >= gap.before);
      const cut = await search.cutGap(series, gap);
      if (!cut.ok) return cut;
    }
    const said = saidBy(event, (call) => tools.get(call)).map(entryOf);
    entries.push(...said);
    characters += said.reduce((sum, { text }) => sum + text.length, 0);
    if (characters < charactersAtOnce && event !== events.at(-1)) continue;
    const followed = await search.follow(series, { entries, upTo: event.seq, stamp: stampOf(id, event) });
    if (!followed.ok) return followed;
    [entries, characters] = [[], 0];
  }
  return ok(undefined);
}

/** What no longer counts since this event. */
async function gapOf(event: LogEvent, { log, number }: Pick<FollowingParts, "log"> & Pick<Stretch, "number">) {
  if (event.type === "rewound") return { after: event.to, before: event.seq };
  if (event.type !== "message.withdrawn") return undefined;
  for (let before = event.seq; before > 1; before -= eventsLookedBack) {
    const after = Math.max(0, before - 1 - eventsLookedBack);
    const events = await log.read(number, { after, limit: eventsLookedBack, upTo: before - 1 });
    const message = events.findLast((each) => each.type === "message.user" && each.id === event.id);
    if (message !== undefined) return { after: message.seq - 1, before: message.seq + 1 };
  }
  return undefined;
}

function entryOf({ seq, at, who, text }: Said): SeriesEntry {
  return typeof who === "object"
    ? { kind: resultKind, id: seq, at, by: who.tool, text: text.slice(0, resultCharactersMax) }
    : { kind: messageKind, id: seq, at, by: who, text: text.slice(0, messageCharactersMax) };
}
