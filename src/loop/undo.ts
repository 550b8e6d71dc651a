import { ok, type Result } from "../base/result.ts";
import { type EventOf, type LogEvent, ownWordsOf } from "../protocol/events.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { UndoReport } from "../protocol/resources.ts";
import type { ConversationRow } from "../storage/storage.ts";
import type { Driver } from "./driver.ts";
import { goBack } from "./go-back.ts";
import type { Engine } from "./loop.ts";
import type { Parts } from "./parts.ts";
import { atRest } from "./whole-conversation.ts";

/** Undoes the last turn. */
export function openUndo(parts: Parts, driver: Driver): Pick<Engine, "undo"> {
  return {
    async undo(conversation) {
      const seen = await atRest(parts, conversation);
      if (!seen.ok) return seen;
      return driver.hold(conversation, async (lease) => {
        const now = await atRest(parts, conversation);
        if (!now.ok) return now;
        // A turn that came and went while the run before it let go is not the one that was meant.
        if (now.value.lastTurn?.turn !== seen.value.lastTurn?.turn)
          return failure("conversation_busy", { id: conversation.id });
        return takeBack(parts, conversation, lease);
      });
    },
  };
}

async function takeBack(
  parts: Parts,
  conversation: ConversationRow,
  { epoch }: { readonly epoch: number },
): Promise<Result<UndoReport, Failure>> {
  const events = await parts.log.effective(conversation.number, Number.MAX_SAFE_INTEGER);
  const start = events.findLastIndex((event) => event.type === "turn.started" && event.agent === undefined);
  const started = events[start];
  if (started?.type !== "turn.started") return failure("nothing_to_undo", {});
  const isAnswered = (event: LogEvent) => event.type === "message.user" && event.id === started.message;
  const message = events.find((event): event is EventOf<"message.user"> => isAnswered(event));
  // Where the message came directly before, it goes too; one that had waited during another turn is withdrawn.
  const newest = events[start - 1];
  const to = (newest !== undefined && isAnswered(newest) ? newest.seq : started.seq) - 1;
  const gone = await goBack(parts, conversation, { events, to, cause: "undo", epoch });
  if (!gone.ok) return gone;
  const { restored, left } = gone.value;
  return ok({ turn: started.turn, message: ownWordsOf(message ?? { text: "" }), restored, left });
}
