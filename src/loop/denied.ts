import type { Verdict } from "../approvals/approvals.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";

/** What forbids a call: the reason for models and logs, and what was found first, for people in their language. */
export function denied(tool: string, { reason, findings }: Verdict): Failure<"tool_denied"> {
  const why = reason.replace(/\.$/, "");
  const first = findings.find(({ action }) => action === "deny");
  if (first === undefined) return makeFailure("tool_denied", { tool, why });
  const { kind, what, said, source } = first;
  const found = said === undefined ? { kind, what } : { what: said };
  return makeFailure("tool_denied", { tool, why, ...found, ...(source !== undefined && { source }) });
}
