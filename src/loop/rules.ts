import { parsedJson } from "../base/json.ts";
import { ok } from "../base/result.ts";
import { AllowRule } from "../protocol/approval.ts";
import { failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { ConversationRow, RuleRow } from "../storage/storage.ts";
import type { Engine } from "./loop.ts";
import type { Parts } from "./parts.ts";

/** So many may one user have, over all conversations. */
export const rulesMax = 500;

/** What users allowed always: listed, and revoked. It counts from the next call on. */
export function openRules(parts: Parts): Pick<Engine, "rules" | "revokeRule"> {
  return {
    async rules(owner, conversation) {
      return rulesOf(parts, owner, conversation?.number);
    },
    async revokeRule(owner, id) {
      const dropped = await parts.storage.dropRule(owner, id);
      if (!dropped.ok) return dropped;
      return dropped.value ? ok(undefined) : failure("rule_not_found", { id });
    },
  };
}

/** The rules that count in a conversation, newest first. */
export async function readRules(
  parts: Pick<Parts, "storage" | "logger">,
  { owner, number }: ConversationRow,
): Promise<AllowRule[]> {
  return rulesOf(parts, owner, number);
}

export function ruleRow(owner: OwnerId, rule: AllowRule, { number }: ConversationRow): RuleRow {
  const place = rule.scope === "conversation" ? number : undefined;
  return { owner, id: rule.id, number: place, body: JSON.stringify(rule), at: rule.at };
}

/** One that cannot be read allows nothing: the person is asked again, and the log says why. */
async function rulesOf(
  { storage, logger }: Pick<Parts, "storage" | "logger">,
  owner: OwnerId,
  number: number | undefined,
): Promise<AllowRule[]> {
  const rows = await storage.listRules(owner, { number, limit: rulesMax });
  return rows.flatMap(({ id, body }) => {
    const rule = AllowRule.safeParse(parsedJson(body));
    if (!rule.success) logger.warn("a rule that somebody made cannot be read", { rule: id, owner });
    return rule.success ? [rule.data] : [];
  });
}
