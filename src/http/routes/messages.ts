import type { Ids } from "../../base/ids.ts";
import { ok } from "../../base/result.ts";
import type { Log } from "../../log/log.ts";
import type { Engine } from "../../loop/loop.ts";
import { failure } from "../../protocol/failure.ts";
import { hasVisible, Slot } from "../../protocol/message.ts";
import type { Handlers } from "../handler.ts";
import { idFor } from "../once.ts";

type Names = "sendMessage" | "sayAgain" | "withdrawMessage" | "cancelTurn" | "resumeTurn";

type Behind = {
  readonly engine: Pick<Engine, "send" | "sayAgain" | "withdraw" | "cancel" | "resume">;
  readonly log: Pick<Log, "find">;
  readonly ids: Ids;
};

export function messageHandlers({ engine, log, ids }: Behind): Pick<Handlers, Names> {
  return {
    async sendMessage({ owner, params, body, language, once }) {
      const row = await log.find(owner, params.id);
      if (!row.ok) return row;
      const isAlone = [...(body.images ?? []), ...(body.files ?? [])].length === 0;
      if (isAlone && !hasVisible(body.text)) return failure("message_blank", {});
      const slot = Slot.optional().safeParse(body.slot);
      if (!slot.success)
        return failure("slot_unknown", { slot: `${body.slot}`.slice(0, 80), known: Slot.options.join(", ") });
      const id = body.id ?? (once && idFor({ once }, ids, "message"));
      return engine.send(row.value, { ...body, ...(id !== undefined && { id }), slot: slot.data, language });
    },
    async sayAgain({ owner, params, body: { text }, once }) {
      const row = await log.find(owner, params.id);
      if (!row.ok) return row;
      if (text !== undefined && !hasVisible(text)) return failure("message_blank", {});
      const cause = text === undefined ? "regenerate" : "edit";
      const id = once && idFor({ once }, ids, "again");
      return engine.sayAgain(row.value, params.message, { cause, text, id });
    },
    async withdrawMessage({ owner, params }) {
      const row = await log.find(owner, params.id);
      return row.ok ? engine.withdraw(row.value, params.message) : row;
    },
    async cancelTurn({ owner, params }) {
      const row = await log.find(owner, params.id);
      const stopped = row.ok ? await engine.cancel(row.value) : row;
      if (!stopped.ok) return stopped;
      const { turn } = stopped.value;
      return turn === null ? failure("turn_not_running", {}) : ok({ turn });
    },
    async resumeTurn({ owner, params }) {
      const row = await log.find(owner, params.id);
      return row.ok ? engine.resume(row.value) : row;
    },
  };
}
