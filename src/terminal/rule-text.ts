import type { AllowRule, RuleMatch, RuleScope } from "../protocol/approval.ts";
import type { Words } from "../words/words.ts";
import { formatTime } from "./format.ts";
import { safeLine } from "./safe-text.ts";

const cellsMax = 120;

const toolCellsMax = 64;

/** One of a list of rules. */
export function ruleLine(rule: AllowRule, words: Words, here?: string): string {
  const { id, tool, match, at } = rule;
  const about = { rule: matchText(match, words), scope: scopeText(rule, words, here), at: formatTime(at) };
  return words.terminal.decision.rule.entry({ id, tool: safeLine(tool, toolCellsMax), ...about });
}

/** What a rule lets pass, in words: one call to the byte, or everything of its kind. */
export function matchText(match: RuleMatch, { terminal }: Words): string {
  if (match.match === "call") return terminal.decision.rule.call({ shown: safeLine(match.shown, cellsMax) });
  return match.covers.map(({ pattern }) => safeLine(pattern, cellsMax)).join(terminal.compact.comma);
}

/** Where it counts, for somebody who is in a conversation. */
export function scopeText(
  { scope, conversation }: { readonly scope: RuleScope; readonly conversation?: AllowRule["conversation"] },
  { terminal }: Words,
  here?: string,
): string {
  const { rule } = terminal.decision;
  if (scope === "user") return rule.everywhere;
  return conversation === undefined || conversation === here ? rule.here : rule.there({ id: conversation.slice(0, 8) });
}
