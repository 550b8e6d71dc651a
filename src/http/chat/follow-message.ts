import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../log/log.ts";
import type { Engine, LiveFrame } from "../../loop/loop.ts";
import type { EventOf, LogEvent } from "../../protocol/events.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { every, makeBell, pingMs } from "../bell.ts";
import { pageEvents } from "../follow.ts";
import { openLivePart } from "./live-part.ts";
import { OwnEvents, type TurnEnd } from "./own-events.ts";

/** One message and the turn that answers it, as a reader follows them. */
export type TurnFrame =
  | { readonly frame: "event"; readonly event: LogEvent }
  | Extract<LiveFrame, { frame: "delta" }>
  | { readonly frame: "ping" }
  /**
   * The last frame. `waiting`: a person or the caller is asked, and nothing else can go on. `behind`: what a
   * person is asked in the turn before, where the message still waits for its own.
   */
  | { readonly frame: "rest"; readonly state: TurnRest; readonly behind?: EventOf<"decision.asked"> };

export type TurnRest = "waiting" | TurnEnd;

export type MessageView = {
  readonly engine: Pick<Engine, "live" | "state">;
  readonly log: Pick<Log, "read" | "find" | "headOf" | "onAppend">;
  readonly clock: Clock;
  readonly conversation: ConversationRow;
  /** Where the message stands in the log. */
  readonly message: { readonly id: string; readonly seq: number };
  readonly signal: AbortSignal;
};

/** A message and its turn, until that rests. */
export async function* followMessage(view: MessageView): AsyncGenerator<TurnFrame[], void, undefined> {
  for await (const frames of followTurn(view)) {
    const told = frames.filter((frame) => frame.frame !== "caught_up");
    if (told.length > 0) yield told;
  }
}

/** `caught_up`: what comes from here on happens now. A turn that has come to rest by then has only its `rest`. */
export type CatchingFrame = TurnFrame | { readonly frame: "caught_up" };

/**
 * A message from its place in the log on, until its turn rests; what belongs to other turns is passed over. Pulled:
 * nothing is read before the reader takes it. Listens first and reads second, so that nothing falls between.
 */
export async function* followTurn(view: MessageView): AsyncGenerator<CatchingFrame[], void, undefined> {
  const { engine, log, clock, conversation, message, signal } = view;
  const { number } = conversation;
  const bell = makeBell();
  let head = 0;
  let isPingDue = false;
  const live = openLivePart(engine, number, bell.ring);
  const stops = [
    log.onAppend(number, (lastSeq) => {
      head = Math.max(head, lastSeq);
      bell.ring();
    }),
    every(clock, pingMs, () => {
      isPingDue = true;
      bell.ring();
    }),
    live.stop,
  ];
  signal.addEventListener("abort", bell.ring);
  try {
    const headAtStart = await log.headOf(number);
    head = Math.max(head, headAtStart);
    const own = new OwnEvents(message.id);
    let sent = message.seq - 1;
    let lookedAt = sent;
    // Whether the turn before may be asking: what it asked before this message is not among the events read here.
    let mayAskBefore = true;
    let isCaughtUp = false;
    while (!signal.aborted) {
      if (sent < head) {
        const upTo = Math.min(head, sent + pageEvents);
        const events = await log.read(number, { after: sent, limit: pageEvents, upTo });
        sent = upTo;
        mayAskBefore ||= events.some(({ type }) => type === "decision.asked");
        const frames: CatchingFrame[] = own.take(events).map((event) => ({ frame: "event", event }));
        const isGone = events.length === 0 && !(await log.find(conversation.owner, conversation.id)).ok;
        const state = own.ended ?? (isGone ? "deleted" : undefined);
        if (state !== undefined) frames.push({ frame: "rest", state });
        if (frames.length > 0) yield frames;
        if (state !== undefined) return;
      } else if (own.isLost) return yield [{ frame: "rest", state: "withdrawn" }];
      else {
        const frames: CatchingFrame[] = own.isStarted ? live.take(own.attempt) : [];
        if (!isCaughtUp) frames.push({ frame: "caught_up" });
        isCaughtUp = true;
        if (isPingDue) {
          isPingDue = false;
          frames.push({ frame: "ping" });
          // A repeat under a key may have come to another server than its conversation's home, which tells only its own readers.
          head = Math.max(head, await log.headOf(number));
        }
        if (frames.length > 0) yield frames;
        else if (own.isAsking && lookedAt !== sent) {
          lookedAt = sent;
          if ((await isWaiting(view)) && sent >= head) return yield [{ frame: "rest", state: "waiting" }];
        } else if (!own.isStarted && mayAskBefore && lookedAt !== sent) {
          lookedAt = sent;
          const before = await askedBefore(view, sent);
          mayAskBefore = before.isAsking;
          if (before.asked !== undefined && sent >= head)
            return yield [{ frame: "rest", state: "waiting", behind: before.asked }];
        } else await bell.heard();
      }
    }
  } finally {
    signal.removeEventListener("abort", bell.ring);
    for (const stop of stops) stop();
  }
}

/** Calls may wait behind one that is asked about: the engine knows whether any can go on. */
async function isWaiting({ engine, conversation }: MessageView): Promise<boolean> {
  const { status } = await engine.state(conversation);
  return status === "waiting";
}

/**
 * What a person is asked in the turn before, if nothing of it can go on without them. Programs answer what they are asked
 * by themselves.
 */
async function askedBefore(
  { engine, log, conversation }: MessageView,
  head: number,
): Promise<{ readonly isAsking: boolean; readonly asked: EventOf<"decision.asked"> | undefined }> {
  const { status, decisions } = await engine.state(conversation);
  const first = decisions.find(({ kind }) => kind !== "function");
  const isWaiting = status === "waiting" && first !== undefined;
  const isAsked = (event: LogEvent) => event.type === "decision.asked" && event.id === first?.id;
  for (let upTo = isWaiting ? head : 0; upTo > 0; upTo -= pageEvents) {
    const page = await log.read(conversation.number, {
      after: Math.max(0, upTo - pageEvents),
      limit: pageEvents,
      upTo,
    });
    const asked = page.find(isAsked);
    if (asked?.type === "decision.asked") return { isAsking: true, asked };
  }
  return { isAsking: decisions.length > 0, asked: undefined };
}
