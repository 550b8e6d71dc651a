import { ok, type Result } from "../base/result.ts";
import type { History } from "../log/log.ts";
import type { EventBody, LogEvent, NewEvent } from "../protocol/events.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { appendSeen } from "./append-seen.ts";
import { type GivenBack, giveBackFiles } from "./give-back.ts";
import { lastText, snippet } from "./last-text.ts";
import type { Parts } from "./parts.ts";

type Way = {
  /** What counts of the log up to now. */
  readonly events: readonly LogEvent[];
  /** The last event that stays. */
  readonly to: number;
  readonly cause: EventBody<"rewound">["cause"];
  readonly epoch: number;
};

/**
 * Leaves behind the turns that came after a place: first what their tools did to files, then the event. Whoever is
 * interrupted in between does it again, and finds the files as they were before.
 */
export async function goBack(
  parts: Parts,
  conversation: ConversationRow,
  way: Way,
): Promise<Result<GivenBack, Failure>> {
  const left = way.events.filter(({ seq }) => seq > way.to);
  const given = await giveBackFiles(parts, conversation, left);
  if (!given.ok) return given;
  const stored = await rewind(parts, conversation, way, { left, events: given.value.events });
  return stored.ok ? given : stored;
}

/** One append. What people did meanwhile and has nothing to do with these turns is said again after it. */
async function rewind(
  parts: Parts,
  conversation: ConversationRow,
  { to, cause, epoch }: Way,
  { left, events }: { left: readonly LogEvent[]; events: readonly NewEvent[] },
): Promise<Result<unknown, Failure>> {
  const { number, id: conversationId } = conversation;
  const before = await parts.log.history(number, to);
  const row = { lastMessage: snippet(lastText(before)), updatedAt: parts.clock.now() };
  const forgotten = left.flatMap((event) => (event.type === "checkpoint.deleted" ? [bare(event)] : []));
  return appendSeen(parts, number, ({ turn, queue }) => {
    if (turn !== undefined) return failure("conversation_busy", { id: conversationId });
    const isIn = (messages: History["queue"], id: string) => messages.some((message) => message.id === id);
    // What waited for its turn back then was answered or withdrawn since: it must not start a turn now.
    const answered = before.queue.filter(({ id }) => !isIn(queue, id));
    const withdrawn = answered.map(({ id }): NewEvent => ({ type: "message.withdrawn", id }));
    const waiting = queue.filter(({ id }) => !isIn(before.queue, id)).map(bare);
    const rewound: NewEvent = { type: "rewound", to, cause };
    return ok({ events: [rewound, ...events, ...forgotten, ...withdrawn, ...waiting], epoch, with: { row } });
  });
}

function bare({ seq: _, at: __, ...event }: LogEvent): NewEvent {
  return event;
}
