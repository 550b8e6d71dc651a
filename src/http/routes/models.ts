import { ok } from "../../base/result.ts";
import { Slot } from "../../protocol/message.ts";
import type { Handlers, Parts } from "../handler.ts";

export function modelHandlers({ models, detectServers }: Parts): Pick<Handlers, "listModels"> {
  return {
    async listModels({ query }) {
      const slots = Slot.options.map((slot) => {
        const { id, server, isDemo, windowTokens, slot: own } = models.get(slot);
        return { slot, id, server, isDemo, windowTokens, filled: own === slot };
      });
      return ok({ slots, found: query.detect ? await detectServers() : [] });
    },
  };
}
