import { ok } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import type { TerminalWords } from "../words/words.ts";
import type { Typed, UsageResult } from "./command-line.ts";
import { readYesRule, type YesRule } from "./yes-rules.ts";

/** What a run may do without asking, and what its answer must be. */
export type RunLimits = {
  /** What is allowed although it asks. */
  readonly yes?: readonly YesRule[];
  /** A file with the JSON Schema that the answer has to fit. */
  readonly answerSchema?: string;
};

export function readRunLimits(typed: Typed, { usage }: TerminalWords): UsageResult<{ limits?: RunLimits }> {
  const yes: YesRule[] = [];
  for (const written of typed.values("yes")) {
    const rule = readYesRule(written);
    if (rule === undefined)
      return failure("usage", {
        what: usage.valueUnfit({ name: "--yes", value: written, known: "TOOL, TOOL:PATTERN, *" }),
      });
    yes.push(rule);
  }
  const answerSchema = typed.value("json-schema");
  if (answerSchema?.trim() === "") return failure("usage", { what: usage.pathEmpty({ name: "--json-schema" }) });
  const limits = {
    ...(yes.length > 0 && { yes }),
    ...(answerSchema !== undefined && { answerSchema }),
  };
  return ok(Object.keys(limits).length === 0 ? {} : { limits });
}
