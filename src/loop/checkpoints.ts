import { ok } from "../base/result.ts";
import type { CheckpointState } from "../log/log.ts";
import { failure } from "../protocol/failure.ts";
import type { Checkpoint } from "../protocol/resources.ts";
import type { ConversationRow } from "../storage/storage.ts";
import type { Driver } from "./driver.ts";
import { goBack } from "./go-back.ts";
import type { Engine } from "./loop.ts";
import type { Parts } from "./parts.ts";
import { appendAtRest, atRest } from "./whole-conversation.ts";

type Checkpoints = Pick<Engine, "checkpoints" | "saveCheckpoint" | "restoreCheckpoint" | "deleteCheckpoint">;

/**
 * Numbered places in the log: every ended turn is one, others are saved by name. Going back does with the files of all
 * turns left behind what undo does with those of one.
 */
export function openCheckpoints(parts: Parts, driver: Driver): Checkpoints {
  const { log, logger } = parts;
  const all = async ({ number }: ConversationRow) => (await log.history(number)).checkpoints;
  const find = async (conversation: ConversationRow, seq: number) =>
    (await all(conversation)).find((point) => point.seq === seq);
  const unknown = (checkpoint: number) => failure("checkpoint_not_found", { checkpoint });
  return {
    checkpoints: async (conversation) => (await all(conversation)).map(rendered),

    async saveCheckpoint(conversation, name, id) {
      const stored = await appendAtRest(parts, conversation, [{ type: "checkpoint.saved", name }], { received: id });
      if (!stored.ok) return stored;
      const point = await find(conversation, stored.value.lastSeq);
      return point === undefined ? unknown(stored.value.lastSeq) : ok(rendered(point));
    },

    async restoreCheckpoint(conversation, checkpoint) {
      if ((await find(conversation, checkpoint)) === undefined) return unknown(checkpoint);
      const seen = await atRest(parts, conversation);
      if (!seen.ok) return seen;
      return driver.hold(conversation, async ({ epoch }) => {
        const now = await atRest(parts, conversation);
        if (!now.ok) return now;
        const point = now.value.checkpoints.find(({ seq }) => seq === checkpoint);
        if (point === undefined) return unknown(checkpoint);
        const events = await log.effective(conversation.number, Number.MAX_SAFE_INTEGER);
        const gone = await goBack(parts, conversation, { events, to: checkpoint, cause: "checkpoint", epoch });
        if (!gone.ok) return gone;
        for (const { path, why } of gone.value.left)
          logger.warn(`a file of ${conversation.id} is not as it was`, { path, why });
        return ok(rendered(point));
      });
    },

    async deleteCheckpoint(conversation, checkpoint) {
      if ((await find(conversation, checkpoint)) === undefined) return unknown(checkpoint);
      const stored = await log.append(conversation.number, [{ type: "checkpoint.deleted", checkpoint }]);
      return stored.ok ? ok(undefined) : stored;
    },
  };
}

function rendered({ seq, parent, name, at }: CheckpointState): Checkpoint {
  return { checkpoint: seq, parent, name, at };
}
