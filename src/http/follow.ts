import type { Clock } from "../base/clock.ts";
import type { Log } from "../log/log.ts";
import type { Engine } from "../loop/loop.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { type Attempt, type Attempts, attemptAfter, noteAttempt } from "./attempt.ts";
import { every, makeBell, pingMs } from "./bell.ts";
import { type Cursor, openPlace, type PlacedFrame } from "./cursor.ts";
import { gatherLiveText } from "./live-text.ts";

/** One page is all of the log that a stream holds; a slow reader simply makes it read the next page later. */
export const pageEvents = 64;

type View = {
  readonly engine: Pick<Engine, "live">;
  readonly log: Pick<Log, "read" | "find" | "headOf" | "onAppend">;
  readonly clock: Clock;
  readonly conversation: ConversationRow;
  /** What the reader has already. */
  readonly after: Cursor;
  /** Fires when the reader is gone. */
  readonly signal: AbortSignal;
  /** Fires when the server ends; the reader is told. */
  readonly closing: AbortSignal;
};

/**
 * A conversation as a reader sees it: the log from a place on, then live, with the text of the running answer.
 * It is pulled: nothing is read before the reader takes it. Listens first and reads second, so that nothing falls between.
 */
export async function* follow(view: View): AsyncGenerator<PlacedFrame[], void, undefined> {
  const { engine, log, conversation, after, signal, closing } = view;
  const { number } = conversation;
  const news = openNews(view);
  const text = gatherLiveText();
  try {
    const headAtStart = await log.headOf(number);
    news.note(headAtStart);
    const begun = await attemptsAt(log, number, after.seq);
    const place = openPlace(after, begun.own, begun.others);
    let sent = after.seq;
    let isCaughtUp = false;
    while (!signal.aborted) {
      if (closing.aborted) return yield place.pass({ frame: "closing", after: place.cursor() });
      if (sent >= headAtStart && !isCaughtUp) {
        isCaughtUp = true;
        yield place.pass({ frame: "caught_up", head: Math.max(sent, headAtStart) });
        const stop = engine.live(number, (delta) => {
          text.add(delta);
          news.ring();
        });
        news.onStop(stop);
        // The answer so far came at once and may be long: only what gathers from here on means a slow reader.
        text.startCounting();
      } else if (sent < news.head()) {
        const upTo = Math.min(news.head(), sent + pageEvents);
        const events = await log.read(number, { after: sent, limit: pageEvents, upTo });
        const isGone = events.length === 0 && !(await log.find(conversation.owner, conversation.id)).ok;
        if (isGone) return yield place.pass({ frame: "deleted" });
        sent = upTo;
        for (const event of events) text.pass(event);
        if (events.length > 0) yield events.flatMap((event) => place.pass({ frame: "event", event }));
        if (events.at(-1)?.type === "conversation.deleted") return yield place.pass({ frame: "deleted" });
      } else if (text.isTooMuch()) {
        return yield place.pass({ frame: "behind", after: place.cursor() });
      } else {
        const frames = text.take(place.open).flatMap((frame) => place.pass(frame));
        if (news.isPingDue()) frames.push(...place.pass({ frame: "ping" }));
        if (frames.length > 0) yield frames;
        else await news.heard();
      }
    }
  } finally {
    news.stop();
  }
}

/** Which answers were being written at a place in the log, as far as the page before it tells. */
async function attemptsAt(
  log: View["log"],
  number: number,
  place: number,
): Promise<{ readonly own: Attempt | undefined; readonly others: Attempts }> {
  const others: Attempts = new Map();
  if (place === 0) return { own: undefined, others };
  const page = await log.read(number, { after: Math.max(0, place - pageEvents), limit: pageEvents, upTo: place });
  for (const event of page) noteAttempt(others, event);
  return { own: page.reduce(attemptAfter, undefined), others };
}

/** All that a stream may wait for. */
type News = {
  /** The newest place of the log that we know of. */
  readonly head: () => number;
  readonly note: (head: number) => void;
  readonly ring: () => void;
  /** Resolves when something rang since the last time. */
  readonly heard: () => Promise<void>;
  /** True once for each time that a ping fell due. */
  readonly isPingDue: () => boolean;
  readonly onStop: (stop: () => void) => void;
  readonly stop: () => void;
};

function openNews({ log, clock, conversation, signal, closing }: View): News {
  const { ring, heard } = makeBell();
  let head = 0;
  let isDue = false;
  const note = (lastSeq: number) => {
    head = Math.max(head, lastSeq);
    ring();
  };
  const stops = [
    log.onAppend(conversation.number, note),
    every(clock, pingMs, () => {
      isDue = true;
      ring();
    }),
    onAbort(signal, ring),
    onAbort(closing, ring),
  ];
  return {
    head: () => head,
    note,
    ring,
    heard,
    isPingDue() {
      const was = isDue;
      isDue = false;
      return was;
    },
    onStop: (stop) => void stops.push(stop),
    stop() {
      for (const stop of stops) stop();
    },
  };
}

function onAbort(signal: AbortSignal, action: () => void): () => void {
  signal.addEventListener("abort", action);
  return () => signal.removeEventListener("abort", action);
}
