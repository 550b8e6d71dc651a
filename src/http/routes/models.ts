import { ok } from "../../base/result.ts";
import { failure } from "../../protocol/failure.ts";
import { Slot } from "../../protocol/message.ts";
import type { ModelSlot } from "../../protocol/model-routes.ts";
import { failureWordsOverHttp, type Language, wordsFor } from "../../words/words.ts";
import type { Handlers, Parts } from "../handler.ts";

type Names = "listModels" | "getModel" | "enterModel" | "removeModel" | "testModel";

export function modelHandlers({ models, entering, detectServers }: Parts): Pick<Handlers, Names> {
  const shown = (slot: Slot, language: Language): ModelSlot => {
    const { broken, ...described } = entering.describe(slot);
    return { ...described, broken: broken === undefined ? null : inWords(broken, language) };
  };
  return {
    async listModels({ query, caller }) {
      const slots = Slot.options.map((slot) => {
        const { id, server, isDemo, windowTokens, slot: own } = models.get(slot);
        return { slot, id, server, isDemo, windowTokens, filled: own === slot };
      });
      // What else listens on the machine of the server is its operator's business.
      const detects = query.detect && caller.scopes.includes("admin");
      return ok({ slots, found: detects ? await detectServers() : [] });
    },
    async getModel({ params, language }) {
      const slot = slotNamed(params.slot);
      return slot.ok ? ok(shown(slot.value, language)) : slot;
    },
    async enterModel({ params, body, language }) {
      const slot = slotNamed(params.slot);
      if (!slot.ok) return slot;
      const entered = await entering.enter(slot.value, body);
      return entered.ok ? ok(shown(slot.value, language)) : entered;
    },
    async removeModel({ params, language }) {
      const slot = slotNamed(params.slot);
      if (!slot.ok) return slot;
      const removed = await entering.remove(slot.value);
      return removed.ok ? ok(shown(slot.value, language)) : removed;
    },
    async testModel({ body, language }) {
      const { server, api, offered, trial, failure: reason } = await entering.test(body);
      const checks = (trial?.checks ?? []).map(({ name, isOk }) => ({ name, isOk }));
      return ok({
        ...{ server, api, offered: [...offered], checks },
        ok: reason === undefined && checks.every(({ isOk }) => isOk),
        firstMs: trial?.latency.firstMs ?? null,
        totalMs: trial?.latency.totalMs ?? null,
        failure: reason === undefined ? null : { code: reason.code, detail: inWords(reason, language) },
      });
    },
  };
}

function slotNamed(name: string) {
  const slot = Slot.safeParse(name);
  return slot.success
    ? ok(slot.data)
    : failure("slot_unknown", { slot: name.slice(0, 80), known: Slot.options.join(", ") });
}

function inWords(reason: { readonly code: string; readonly params: object }, language: Language): string {
  return failureWordsOverHttp(wordsFor(language), reason).join(" ").trim();
}
