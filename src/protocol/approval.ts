import { z } from "zod";
import { FormField } from "./form.ts";

/** What a person is told about a call before they decide, and what of it is kept as a rule. */
export const Risk = z.enum(["low", "medium", "high", "critical"]);
export type Risk = z.infer<typeof Risk>;

/** Who said it: the operator's checker, the patterns for all tools, the rules of one tool, or what holds by default. */
export const Layer = z.enum(["checker", "global", "tool", "default"]);
export type Layer = z.infer<typeof Layer>;

/** What was found in a call. People read it in their language; `said` replaces the words where the operator wrote their own. */
export const FindingKind = z.enum([
  /** Removes something outside `temp/` and `/tmp`. */
  "delete",
  /** Overwrites, empties or edits in place what lies in `uploads/`. */
  "change_upload",
  /** A secret stands in the arguments. */
  "secret",
  /** Reads a file with credentials. */
  "credentials",
  /** Drops or empties a table of a database. */
  "database",
  /** Talks to the network. */
  "network",
  /** Installs packages. */
  "packages",
  /** Raises privileges, or changes namespaces. */
  "privilege",
  /** Runs text that was fetched or decoded. */
  "run_unseen",
  /** The name of a command cannot be read from the text. */
  "unreadable",
  /** Not on the list of safe commands, where only those go without asking. */
  "not_safe",
  /** Keeps something beyond this conversation, after text from outside was read. */
  "lasting",
  /** An MCP server may change something by it, after text from outside was read. */
  "mcp",
  /** A checker broke down, took too long, or answered something else. */
  "checker_broke",
  "checker_slow",
  "checker_unclear",
  /** A pattern or a rule of the operator, a checker, or the tool itself: `said` has the words. */
  "rule",
]);
export type FindingKind = z.infer<typeof FindingKind>;

export const Finding = z.strictObject({
  kind: FindingKind,
  action: z.enum(["ask", "deny"]),
  risk: Risk,
  layer: Layer,
  /** The risk is one level higher than usual: the conversation has read text from outside. */
  raised: z.literal(true).optional(),
  /** The part of the call that it is about: a simple command, a path. Never longer than 300 characters. */
  what: z.string(),
  /** What else an "allow always" could cover: `pip install *`. Absent where only the same again may be allowed. */
  shape: z.string().optional(),
  /** The operator's or the tool's own words. */
  said: z.string().optional(),
  /** Where the rule is set: `hitl_rules.yaml:14`. Absent for what holds by default. */
  source: z.string().optional(),
});
export type Finding = z.infer<typeof Finding>;

/** What a rule lets pass: one call to the byte, or what was found in it. `pip install *` covers any further words. */
export const RuleMatch = z.discriminatedUnion("match", [
  z.strictObject({ match: z.literal("call"), hash: z.string(), shown: z.string() }),
  z.strictObject({
    match: z.literal("findings"),
    /** Only what is no graver than `risk`; medium where that is not said. */
    covers: z.array(z.strictObject({ kind: FindingKind, pattern: z.string(), risk: Risk.optional() })).min(1),
  }),
]);
export type RuleMatch = z.infer<typeof RuleMatch>;

/** For the conversation it was made in, or for all of this user's. */
export const RuleScope = z.enum(["conversation", "user"]);
export type RuleScope = z.infer<typeof RuleScope>;

/** An "allow always". It turns an ask into an allow, never a deny. */
export const AllowRule = z.object({
  id: z.string(),
  tool: z.string(),
  scope: RuleScope,
  conversation: z.string().optional(),
  match: RuleMatch,
  at: z.number(),
  by: z.string(),
});
export type AllowRule = z.infer<typeof AllowRule>;

/** What a person is asked: as the log has it, and as every surface shows it. */
export const asked = {
  /**
   * `function`: the caller is to run a function of its own; its result is the answer. `elicitation`: a server of others
   * wants to know something in the middle of a call.
   */
  kind: z.enum(["approval", "question", "function", "elicitation"]),
  tool: z.string(),
  /** Approval and function: the exact arguments. */
  arguments: z.string().optional(),
  reason: z.string().optional(),
  risk: Risk.optional(),
  layer: z.string().optional(),
  /** Everything that was found in the call, the strictest first. */
  findings: z.array(Finding).optional(),
  /** What an "allow always" would store; the first is the narrowest. */
  always: z.array(RuleMatch).optional(),
  question: z.string().optional(),
  context: z.string().optional(),
  default: z.string().optional(),
  required: z.boolean().optional(),
  /** Elicitation: what is to be filled in; the answer is an object of JSON, or `name: value` in lines. */
  fields: z.array(FormField).optional(),
};

/** Words are wanted, not a yes or no. */
export function asksForWords(kind: string): boolean {
  return kind === "question" || kind === "elicitation";
}
