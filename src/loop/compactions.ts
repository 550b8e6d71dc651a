import { ok, type Result } from "../base/result.ts";
import type { History } from "../log/log.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { CompactReport } from "../protocol/resources.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { isAtWork } from "./agents/at-work.ts";
import { appendSeen } from "./append-seen.ts";
import type { Driver } from "./driver.ts";
import type { Engine } from "./loop.ts";
import { makeRoomIn, reportOf, roomEvents } from "./make-room.ts";
import type { Parts } from "./parts.ts";

/** What people do about the window: make room now, and send everything again. Not in the middle of a turn. */
export function openCompactions(parts: Parts, driver: Driver): Pick<Engine, "compact" | "undoCompaction"> {
  const { log } = parts;
  return {
    async compact(conversation, { strategy, focus }) {
      return driver.hold<CompactReport>(conversation, async ({ epoch, signal }) => {
        const seen = await standing(parts, conversation);
        if (!seen.ok) return seen;
        const { value: history } = seen;
        const place = { conversation, history, signal };
        const made = await makeRoomIn(parts, place, { strategy, focus, by: "person" });
        if (!made.ok) return made;
        // A summary that was broken off is no reason to leave everything out.
        if (signal.aborted) return failure("conversation_busy", { id: conversation.id });
        const { compacted } = made.value;
        const report = reportOf(history, made.value, parts);
        const events = roomEvents(history.turn?.turn ?? history.turnsEver, made.value);
        if (events.length === 0) return ok({ seq: null, ...report });
        const stored = await appendSeen(parts, conversation.number, (now) => {
          if (!isSame(now, history)) return failure("conversation_busy", { id: conversation.id });
          return ok({ events, epoch });
        });
        return stored.ok ? ok({ seq: compacted === undefined ? null : stored.value.lastSeq, ...report }) : stored;
      });
    },

    async undoCompaction(conversation) {
      return driver.hold(conversation, async ({ epoch }) => {
        const seen = await standing(parts, conversation);
        if (!seen.ok) return seen;
        const events = await log.effective(conversation.number, Number.MAX_SAFE_INTEGER);
        const undone = new Set(
          events.map((event) => (event.type === "compaction.undone" ? event.compacted : undefined)),
        );
        const newest = events.findLast(
          (event) => event.type === "compacted" && event.agent === undefined && !undone.has(event.seq),
        );
        if (newest === undefined) return failure("compaction_not_found", {});
        const { number, owner } = conversation;
        const stored = await appendSeen(parts, number, () =>
          ok({ events: [{ type: "compaction.undone", compacted: newest.seq, by: owner }], epoch }),
        );
        return stored.ok ? ok({ seq: stored.value.lastSeq }) : stored;
      });
    },
  };
}

/** The history of a conversation that rests, or waits for a person. */
async function standing(parts: Parts, { number, id, owner }: ConversationRow): Promise<Result<History, Failure>> {
  const tree = await parts.log.tree(number);
  const isStill = tree.root.turn === undefined || !isAtWork(tree, parts, owner);
  return isStill ? ok(tree.root) : failure("conversation_busy", { id });
}

/** Nothing was said and answered since. */
function isSame(now: History, before: History): boolean {
  return now.turn?.turn === before.turn?.turn && now.seqs.join() === before.seqs.join();
}
