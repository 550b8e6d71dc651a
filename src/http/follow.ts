import type { Clock } from "../base/clock.ts";
import type { Log } from "../log/log.ts";
import type { Engine } from "../loop/loop.ts";
import type { StreamFrame } from "../protocol/resources.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { type Attempt, attemptAfter } from "./attempt.ts";
import { gatherLiveText } from "./live-text.ts";

/** One page is all of the log that a stream holds; a slow reader simply makes it read the next page later. */
const pageEvents = 64;
const pingMs = 15_000;
/** Text of the running answer that may wait for its reader. */
const unsentCharactersMax = 1024 * 1024;

type View = {
  readonly engine: Pick<Engine, "live">;
  readonly log: Pick<Log, "read" | "find" | "headOf" | "onAppend">;
  readonly clock: Clock;
  readonly conversation: ConversationRow;
  /** The place in the log that the reader has already. */
  readonly after: number;
  readonly signal: AbortSignal;
};

/**
 * A conversation as a reader sees it: the log from a place on, then live, with the text of the running answer.
 * It is pulled: nothing is read before the reader takes it. Listens first and reads second, so that nothing falls between.
 */
export async function* follow({
  engine,
  log,
  clock,
  conversation,
  after,
  signal,
}: View): AsyncGenerator<StreamFrame[], void, undefined> {
  const { number } = conversation;
  const bell = makeBell();
  const text = gatherLiveText();
  let head = 0;
  let isPingDue = false;
  const stops = [
    log.onAppend(number, (lastSeq) => {
      head = Math.max(head, lastSeq);
      bell.ring();
    }),
    every(clock, pingMs, () => {
      isPingDue = true;
      bell.ring();
    }),
  ];
  signal.addEventListener("abort", bell.ring);
  try {
    const headAtStart = await log.headOf(number);
    head = Math.max(head, headAtStart);
    let attempt = await attemptAt(log, number, after);
    let sent = after;
    let isCaughtUp = false;
    while (!signal.aborted) {
      if (sent >= headAtStart && !isCaughtUp) {
        isCaughtUp = true;
        yield [{ frame: "caught_up", head: headAtStart }];
        const stop = engine.live(number, (delta) => {
          text.add(delta);
          bell.ring();
        });
        stops.push(stop);
        // The answer so far came at once and may be long: only what gathers from here on means a slow reader.
        text.startCounting();
      } else if (sent < head) {
        const upTo = Math.min(head, sent + pageEvents);
        const events = await log.read(number, { after: sent, limit: pageEvents, upTo });
        if (events.length === 0 && !(await log.find(conversation.owner, conversation.id)).ok) return;
        sent = upTo;
        attempt = events.reduce(attemptAfter, attempt);
        if (events.length > 0) yield events.map((event) => ({ frame: "event", event }));
      } else if (text.unsent() > unsentCharactersMax) {
        yield [{ frame: "behind", after: sent }];
        return;
      } else {
        const frames: StreamFrame[] = text.take(attempt);
        if (isPingDue) frames.push({ frame: "ping" });
        isPingDue = false;
        if (frames.length > 0) yield frames;
        else await bell.heard();
      }
    }
  } finally {
    signal.removeEventListener("abort", bell.ring);
    for (const stop of stops) stop();
  }
}

/** Which answer was being written at a place in the log, as far as the page before it tells. */
async function attemptAt(log: View["log"], number: number, place: number): Promise<Attempt | undefined> {
  if (place === 0) return undefined;
  const page = await log.read(number, { after: Math.max(0, place - pageEvents), limit: pageEvents, upTo: place });
  return page.reduce(attemptAfter, undefined);
}

type Bell = { readonly ring: () => void; readonly heard: () => Promise<void> };

/** Remembers a ring that nobody waited for yet. */
function makeBell(): Bell {
  let next = Promise.withResolvers<void>();
  return {
    ring: () => next.resolve(),
    async heard() {
      await next.promise;
      next = Promise.withResolvers();
    },
  };
}

function every(clock: Clock, ms: number, action: () => void): () => void {
  let cancel = clock.after(ms, tick);
  function tick(): void {
    cancel = clock.after(ms, tick);
    action();
  }
  return () => cancel();
}
