import { ok } from "../base/result.ts";
import type { CheckpointState } from "../log/log.ts";
import { failure } from "../protocol/failure.ts";
import type { Checkpoint } from "../protocol/resources.ts";
import type { ConversationRow } from "../storage/storage.ts";
import type { Engine } from "./loop.ts";
import type { Parts } from "./parts.ts";
import { appendAtRest } from "./places.ts";

type Checkpoints = Pick<Engine, "checkpoints" | "saveCheckpoint" | "restoreCheckpoint" | "deleteCheckpoint">;

/** Numbered places in the log: every ended turn is one, others are saved by name. Going back is one event. */
export function openCheckpoints(parts: Parts): Checkpoints {
  const { log } = parts;
  const all = async ({ number }: ConversationRow) => (await log.history(number)).checkpoints;
  const find = async (conversation: ConversationRow, seq: number) =>
    (await all(conversation)).find((point) => point.seq === seq);
  const unknown = (checkpoint: number) => failure("checkpoint_not_found", { checkpoint });
  return {
    checkpoints: async (conversation) => (await all(conversation)).map(rendered),

    async saveCheckpoint(conversation, name) {
      const stored = await appendAtRest(parts, conversation, [{ type: "checkpoint.saved", name }]);
      if (!stored.ok) return stored;
      const point = await find(conversation, stored.value.lastSeq);
      return point === undefined ? unknown(stored.value.lastSeq) : ok(rendered(point));
    },

    async restoreCheckpoint(conversation, checkpoint) {
      const point = await find(conversation, checkpoint);
      if (point === undefined) return unknown(checkpoint);
      // What waited for its turn back then was answered or taken back since: it must not start a turn now.
      const { queue } = await log.history(conversation.number, checkpoint);
      const withdrawn = queue.map(({ id }) => ({ type: "message.withdrawn", id }) as const);
      const rewound = { type: "rewound", to: checkpoint, cause: "checkpoint" } as const;
      const stored = await appendAtRest(parts, conversation, [rewound, ...withdrawn]);
      return stored.ok ? ok(rendered(point)) : stored;
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
