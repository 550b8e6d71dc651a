import { derivedHex } from "../../base/ids.ts";
import { type AgentChosen, agentAfter } from "../../log/log.ts";
import { mainRole } from "../../protocol/agent.ts";
import type { EventOf, LogEvent } from "../../protocol/events.ts";
import type { ConversationRow } from "../../storage/storage.ts";
import { uuidFrom } from "../once.ts";

/** A message of a user, with what the chat routes call the answer to it. */
export type ChatPlace = {
  readonly message: EventOf<"message.user">;
  /** The number of the user's row; the answer's is the next. */
  readonly index: number;
  /** Id of the message that answers it. */
  readonly reply: string;
  readonly runId: string;
  readonly agent: { readonly id: string; readonly name: string };
  /** False: it was withdrawn, or joined the turn of another message. */
  readonly isAnswered: boolean;
  readonly isWithdrawn: boolean;
};

/**
 * All messages that count, in order. One that is said again keeps its index, and so does one that was withdrawn: nobody
 * else's changes by it.
 */
export function chatPlaces(events: readonly LogEvent[], conversation: ConversationRow): ChatPlace[] {
  const places = new Map<string, ChatPlace>();
  let chosen: AgentChosen | undefined;
  let agent = { id: conversation.agentId ?? mainRole, name: mainRole };
  // One that came too late to join a turn begins the next one, and is answered like any other.
  const begins = new Set(events.flatMap((event) => (isBeginning(event) ? [event.message] : [])));
  let next = 1;
  for (const event of events) {
    if (event.type === "agent.chosen") {
      chosen = agentAfter(chosen, event);
      agent = { id: chosen.agentId ?? chosen.role, name: chosen.role };
    }
    if (event.type === "message.withdrawn") {
      const place = places.get(event.id);
      if (place !== undefined) places.set(event.id, { ...place, isAnswered: false, isWithdrawn: true });
    }
    if (event.type !== "message.user" || event.agent !== undefined) continue;
    const index = places.get(event.id)?.index ?? next;
    const isAnswered = event.mode === "queue" || begins.has(event.id);
    next = Math.max(next, index + (isAnswered ? 2 : 1));
    places.set(event.id, { message: event, index, agent, isAnswered, isWithdrawn: false, ...chatIdsOf(event) });
  }
  return [...places.values()];
}

function isBeginning(event: LogEvent): event is EventOf<"turn.started"> {
  return event.type === "turn.started" && event.agent === undefined;
}

/** The ids of the answer and of the run: those that were promised, else always the same ones. */
function chatIdsOf({ id, reply, run }: Pick<EventOf<"message.user">, "id" | "reply" | "run">) {
  const made = (what: string) => uuidFrom(derivedHex(32, id, what));
  return { reply: reply ?? made("reply"), runId: run ?? made("run") };
}
