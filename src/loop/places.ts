import { ok, type Result } from "../base/result.ts";
import type { LogEvent, NewEvent } from "../protocol/events.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { ConversationRow } from "../storage/storage.ts";
import type { Driver } from "./driver.ts";
import type { Engine } from "./loop.ts";
import { appendSeen } from "./messages.ts";
import type { Parts } from "./parts.ts";

/** The whole history: forget it, share it, delete it. */
export function openPlaces(parts: Parts, driver: Driver): Pick<Engine, "reset" | "branch" | "remove"> {
  const { log, clock, ids } = parts;
  return {
    async reset(conversation) {
      const stored = await appendAtRest(parts, conversation, [{ type: "rewound", to: 0, cause: "reset" }]);
      return stored.ok ? ok(undefined) : stored;
    },

    async branch(conversation, at) {
      const { checkpoints } = await log.history(conversation.number);
      const point = at === undefined ? checkpoints.at(-1) : checkpoints.find(({ seq }) => seq === at);
      if (point === undefined && at !== undefined) return failure("checkpoint_not_found", { checkpoint: at });
      const copied = point === undefined ? [] : copiedEvents(await log.effective(conversation.number, point.seq));
      const branched: NewEvent = { type: "branched", parent: conversation.id, place: point?.seq ?? 0 };
      const { owner, title } = conversation;
      const events = [branched, ...copied];
      return log.createConversation(owner, { id: ids.uuid(), title, events, blobsOf: conversation.number });
    },

    async remove(conversation) {
      await driver.stop(conversation.number);
      const event: NewEvent = { type: "conversation.deleted", by: conversation.owner };
      const stored = await log.append(conversation.number, [event], { with: { deleted: { at: clock.now() } } });
      return stored.ok ? ok(undefined) : stored;
    },
  };
}

/** Appends between turns only: a running turn must not lose the ground it stands on, nor a message that waits its turn. */
export async function appendAtRest(
  parts: Parts,
  { number, id }: ConversationRow,
  events: readonly NewEvent[],
): Promise<Result<{ readonly lastSeq: number }, Failure>> {
  return appendSeen(parts, number, ({ turn, queue }) => {
    if (turn !== undefined || queue.length > 0) return failure("conversation_busy", { id });
    return ok({ events, with: { row: { updatedAt: parts.clock.now() } } });
  });
}

/** The events of the parent under their new numbers: places named inside them move along. */
function copiedEvents(events: readonly LogEvent[]): NewEvent[] {
  const dropped = new Set<LogEvent["type"]>(["rewound", "branched", "checkpoint.deleted"]);
  const taken = new Set(events.flatMap(takenUp));
  const kept = events.filter(
    (event) => !dropped.has(event.type) && (event.type !== "message.user" || taken.has(event.id)),
  );
  const placeOf = new Map(kept.map((event, index) => [event.seq, index + 2]));
  return kept.map(({ seq: _, at: __, ...event }) =>
    event.type === "compacted" ? { ...event, upTo: placeOf.get(event.upTo) ?? 1 } : event,
  );
}

/** Messages that this event brings into the history; others still waited when the turn ended. */
function takenUp(event: LogEvent): readonly string[] {
  if (event.type === "turn.started") return [event.message];
  return event.type === "step.started" ? (event.joined ?? []) : [];
}
