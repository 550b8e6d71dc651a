import type { Chance } from "./fuzz-chance.ts";

// What there is to be named in a request: ids that answers gave, by whose they are.

export type Pool = {
  /** Mostly one of their own, sometimes somebody else's, sometimes one that nobody has; `within`: of this conversation. */
  take(owner: string, kind: string, within?: string): string;
  learn(owner: string, kind: string, id: string, within?: string): void;
  /** Every id in an answer, by the names it has there; `own`: what `id` means in it. */
  learnAll(owner: string, answer: unknown, own: string, within?: string): void;
};

const keptMax = 40;
const newMax = 6;

export function openPool(chance: Chance): Pool {
  const byOwner = new Map<string, Map<string, string[]>>();
  const idsOf = (owner: string, kind: string): string[] => {
    const kinds = byOwner.get(owner) ?? new Map<string, string[]>();
    byOwner.set(owner, kinds);
    const ids = kinds.get(kind) ?? [];
    kinds.set(kind, ids);
    return ids;
  };
  const learn = (owner: string, kind: string, id: string, within?: string) => {
    for (const ids of [idsOf(owner, kind), ...(within === undefined ? [] : [idsOf(within, kind)])]) {
      if (ids.includes(id)) continue;
      ids.unshift(id);
      ids.length = Math.min(ids.length, keptMax);
    }
  };
  const learnAll = (owner: string, answer: unknown, own: string, within?: string) => {
    if (Array.isArray(answer)) for (const item of answer.slice(0, keptMax)) learnAll(owner, item, own, within);
    else if (typeof answer === "object" && answer !== null)
      for (const [name, value] of Object.entries(answer)) {
        const kind = name === "id" ? own : kinds[name];
        const isId = typeof value === "number" || (typeof value === "string" && value.length > 0 && value.length <= 80);
        if (kind !== undefined && isId) learn(owner, kind, String(value), within);
        else if (typeof value === "object") learnAll(owner, value, nested[name] ?? own, within);
      }
  };
  return {
    learn,
    learnAll,
    take(owner, kind, within = owner) {
      if (chance.odds(0.03)) return `nobodys-${kind}`;
      const whose = chance.odds(0.12) ? chance.pick([...byOwner.keys()]) : within;
      const there = idsOf(whose, kind);
      const ids = there.length > 0 ? there : idsOf(owner, kind);
      if (ids.length === 0) return `no-${kind}`;
      // What is new is most likely there still.
      return chance.pick(chance.odds(0.8) ? ids.slice(0, newMax) : ids);
    },
  };
}

const kinds: Readonly<Record<string, string>> = {
  conversation_id: "conversation",
  conversation: "conversation",
  execution_id: "execution",
  upload_id: "upload",
  decision: "decision",
  resume_token: "decision",
  message: "message",
  assistant_message_id: "message",
  user_message_id: "message",
  agent_run_id: "run",
  checkpoint: "checkpoint",
};

/** What `id` means below a field of this name. */
const nested: Readonly<Record<string, string>> = {
  decisions: "decision",
  queue: "message",
  messages: "message",
  Messages: "message",
  conversation: "conversation",
};
