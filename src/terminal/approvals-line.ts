import { ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import type { TerminalWords } from "../words/words.ts";
import type { Typed, UsageResult } from "./command-line.ts";

/** `agentyard approvals`. */
export type ApprovalsCommand = { readonly name: "approvals"; readonly json: boolean } & (
  | { readonly action: "list" | "rules" }
  | { readonly action: "revoke"; readonly rule: string }
  | { readonly action: "test"; readonly tool: string; readonly arguments: string; readonly facts?: string }
);

const known = "list, test, rules, revoke";

export function readApprovals(
  rest: readonly string[],
  typed: Typed,
  words: TerminalWords,
): UsageResult<ApprovalsCommand> {
  const [action = "list", one, two, ...more] = rest;
  const { usage: says } = words.approvals;
  const json = typed.has("json");
  const facts = typed.value("facts");
  const unwanted = (value: string) => usage(words.usage.argumentUnwanted({ command: `approvals ${action}`, value }));
  if (facts !== undefined && action !== "test") return unwanted("--facts");
  switch (action) {
    case "list":
    case "rules":
      return one === undefined ? ok({ name: "approvals", action, json }) : unwanted(one);
    case "revoke":
      if (one === undefined || one.trim() === "") return usage(says.revokeNeeds());
      return two === undefined ? ok({ name: "approvals", action, json, rule: one }) : unwanted(two);
    case "test":
      if (one === undefined || two === undefined) return usage(says.testNeeds());
      if (more[0] !== undefined) return unwanted(more[0]);
      return ok({ name: "approvals", action, json, tool: one, arguments: two, ...(facts !== undefined && { facts }) });
    default:
      return usage(says.actionUnknown({ value: action, known }));
  }
}

function usage(what: string) {
  return failure("usage", { what, command: "approvals" });
}
