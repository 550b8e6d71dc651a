import { ok } from "../base/result.ts";
import { AllowRule } from "../protocol/approval.ts";
import { failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { ConversationRow, RuleRow } from "../storage/storage.ts";
import type { Engine } from "./loop.ts";
import type { Parts } from "./parts.ts";

/** Of one user, over all conversations. */
export const rulesMax = 500;

/** What users allowed always: listed, and taken back. It counts from the next call on. */
export function openRules({ storage }: Parts): Pick<Engine, "rules" | "revokeRule"> {
  return {
    async rules(owner, conversation) {
      return (await storage.listRules(owner, { number: conversation?.number, limit: rulesMax })).flatMap(ruleIn);
    },
    async revokeRule(owner, id) {
      const dropped = await storage.dropRule(owner, id);
      if (!dropped.ok) return dropped;
      return dropped.value ? ok(undefined) : failure("rule_not_found", { id });
    },
  };
}

/** Those that count in a conversation, newest first. */
export async function readRules(
  { storage }: Pick<Parts, "storage">,
  { owner, number }: ConversationRow,
): Promise<AllowRule[]> {
  return (await storage.listRules(owner, { number, limit: rulesMax })).flatMap(ruleIn);
}

export function ruleRow(owner: OwnerId, rule: AllowRule, { number }: ConversationRow): RuleRow {
  const place = rule.scope === "conversation" ? number : undefined;
  return { owner, id: rule.id, number: place, body: JSON.stringify(rule), at: rule.at };
}

/** One that cannot be read allows nothing. */
function ruleIn({ body }: RuleRow): AllowRule[] {
  try {
    const rule = AllowRule.safeParse(JSON.parse(body));
    return rule.success ? [rule.data] : [];
  } catch {
    return [];
  }
}
