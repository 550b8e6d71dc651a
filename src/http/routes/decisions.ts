import { ok } from "../../base/result.ts";
import type { Handlers, Parts } from "../handler.ts";

export function decisionHandlers({ engine, log }: Parts): Pick<Handlers, "listDecisions" | "decide"> {
  return {
    async listDecisions({ owner }) {
      return ok({ items: await engine.openDecisions(owner) });
    },
    async decide({ owner, params, body, once }) {
      const row = await log.find(owner, params.id);
      if (!row.ok) return row;
      const made = await engine.decide(row.value, params.decision, { ...body, by: owner });
      const isAgain = once?.isRetry === true && !made.ok;
      const seq = isAgain ? await madeAt(row.value.number, params.decision, owner) : undefined;
      return seq === undefined ? made : ok({ decision: params.decision, seq, also: [] });
    },
  };

  /** Where a person's own decision stands in the log, made by an earlier try of the same call. */
  async function madeAt(number: number, decision: string, by: string): Promise<number | undefined> {
    const head = await log.headOf(number);
    for (let upTo = head; upTo > 0; upTo -= pageEvents) {
      const page = await log.read(number, { after: Math.max(0, upTo - pageEvents), limit: pageEvents, upTo });
      const made = page.find((event) => event.type === "decision.made" && event.id === decision && event.by === by);
      if (made !== undefined) return made.seq;
    }
    return undefined;
  }
}

const pageEvents = 256;
