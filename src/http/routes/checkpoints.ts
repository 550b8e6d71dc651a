import { ok } from "../../base/result.ts";
import type { Handlers, Parts } from "../handler.ts";
import { idFor } from "../once.ts";

type Names = "listCheckpoints" | "saveCheckpoint" | "restoreCheckpoint" | "deleteCheckpoint";

export function checkpointHandlers({ engine, log, ids }: Parts): Pick<Handlers, Names> {
  return {
    async listCheckpoints({ owner, params }) {
      const row = await log.find(owner, params.id);
      return row.ok ? ok({ items: await engine.checkpoints(row.value) }) : row;
    },
    async saveCheckpoint({ owner, params, body, once }) {
      const row = await log.find(owner, params.id);
      return row.ok ? engine.saveCheckpoint(row.value, body.name, idFor({ once }, ids, "checkpoint")) : row;
    },
    async restoreCheckpoint({ owner, params }) {
      const row = await log.find(owner, params.id);
      return row.ok ? engine.restoreCheckpoint(row.value, params.checkpoint) : row;
    },
    async deleteCheckpoint({ owner, params }) {
      const row = await log.find(owner, params.id);
      return row.ok ? engine.deleteCheckpoint(row.value, params.checkpoint) : row;
    },
  };
}
