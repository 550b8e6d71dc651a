import type { EventOf } from "../protocol/events.ts";
import { codeIn, subjectOf } from "./code-call.ts";

/** What `--yes` allows: a tool, and what its call is about; `*` alone is every tool. */
export type YesRule = { readonly tool: string; readonly pattern: string | undefined; readonly written: string };

/** `TOOL`, `TOOL:PATTERN` or `*`; undefined where it is none of them. */
export function readYesRule(written: string): YesRule | undefined {
  const [, tool, pattern] = /^(\*|[A-Za-z][\w.:-]*?)(?::(.+))?$/s.exec(written.trim()) ?? [];
  if (tool === undefined || (tool === "*" && pattern !== undefined)) return undefined;
  return { tool, pattern, written: written.trim() };
}

/** The rule by which a call may run without anybody being asked. Questions are never answered by a rule. */
export function yesRuleFor(
  rules: readonly YesRule[],
  { kind, tool, arguments: json = "" }: Pick<EventOf<"decision.asked">, "kind" | "tool" | "arguments">,
): YesRule | undefined {
  if (kind !== "approval") return undefined;
  return rules.find((rule) => {
    if (rule.tool !== "*" && rule.tool !== tool) return false;
    return rule.pattern === undefined || fitsYesRule(rule.pattern, tool, json);
  });
}

/** `*` stands for any text of one line; in a program for none that could begin another command. */
function fitsYesRule(pattern: string, tool: string, json: string): boolean {
  const isProgram = codeIn(tool, json) !== undefined;
  const anything = isProgram ? "[^;&|<>`$(){}\\\\\\n\\r]*" : "[^\\n\\r]*";
  const parts = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(anything)}$`, "u").test(subjectOf(tool, json));
}
