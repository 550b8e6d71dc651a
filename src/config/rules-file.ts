import type { Action, PatternRule } from "../approvals/approvals.ts";
import { compilePattern } from "../approvals/pattern.ts";
import { nearest } from "../base/nearest.ts";
import { Risk } from "../protocol/approval.ts";
import type { Kind } from "./first-kinds.ts";
import { text, toggle } from "./kinds.ts";
import { type KnownTool, type KnownTools, toolNamed } from "./known-tools.ts";
import type { Given, Take, Walker } from "./walker.ts";
import type { Entry, Item } from "./yaml-tree.ts";

/** One `hitl_rules.yaml`, checked. What it does not say is undefined. */
export type RulesFile = {
  isOn: Given<boolean> | undefined;
  defaultAction: Given<Action> | undefined;
  readonly patterns: PatternRule[];
  /** By the name that a tool is known under. */
  readonly tools: Map<string, ToolRules>;
  safeCommands: Given<readonly string[]> | undefined;
};
type ToolRules = { isOn: Given<boolean> | undefined; readonly patterns: PatternRule[] };

/** `tools`: by every name that a tool goes by. */
export function readRulesFile(entries: readonly Entry[], walker: Walker, tools: KnownTools): RulesFile {
  const file: RulesFile = {
    ...{ isOn: undefined, defaultAction: undefined, safeCommands: undefined },
    ...{ patterns: [], tools: new Map() },
  };
  const { group, value } = walker;
  const levels = Risk.options.map((risk): [Risk, Take] => [
    risk,
    (entry, name) => void file.patterns.push(...readLevel(entry, name, risk, walker)),
  ]);
  walker.entries(entries, "", {
    global: (entry, name) =>
      group(entry, name, {
        enabled: (inside, key) => {
          file.isOn = value(inside, key, toggle);
        },
        default_action: (inside, key) => {
          file.defaultAction = value(inside, key, action);
        },
        risk_patterns: (inside, key) => group(inside, key, Object.fromEntries(levels.toReversed())),
      }),
    tools: (entry, name) =>
      walker.named(entry, name, "run_bash_command", (inside, key) => readTool(inside, key, { walker, file, tools })),
    defaults: (entry, name) =>
      group(entry, name, {
        safe_commands: (inside, key) => {
          file.safeCommands = readWords(inside, key, walker);
        },
      }),
  });
  return file;
}

const actionWords: Readonly<Record<string, Action>> = {
  ...{ allow: "allow", ask: "ask", deny: "deny" },
  // The word of the source system.
  require_approval: "ask",
};

const action: Kind<Action> = {
  expected: { form: "choice", choices: ["allow", "ask", "deny"] },
  parse: (given) => (typeof given === "string" ? actionWords[given.trim().toLowerCase()] : undefined),
};

/** A number or a word without quotes is a text too. */
const word: Kind<string> = {
  expected: { form: "text" },
  parse: (given, folders) => text.parse(typeof given === "object" ? given : String(given), folders),
};

/** What holds for a pattern unless its own line says otherwise. */
type Said = { readonly action: Action; readonly risk?: Risk; readonly reason?: string | undefined };

/** What stands beside the patterns counts for all of them, whichever comes first in the file. */
function readLevel(entry: Entry, name: string, risk: Risk, walker: Walker): PatternRule[] {
  let said: Said = { action: "ask", risk };
  let listed: Entry | undefined;
  walker.group(entry, name, {
    patterns: (inside) => {
      listed = inside;
    },
    action: (inside, key) => {
      said = { ...said, action: walker.value(inside, key, action)?.value ?? said.action };
    },
    reason: (inside, key) => {
      said = { ...said, reason: walker.value(inside, key, word)?.value };
    },
  });
  return listed === undefined ? [] : readPatterns(listed, `${name}.patterns`, said, walker);
}

type Reading = {
  readonly walker: Walker;
  readonly file: RulesFile;
  readonly tools: KnownTools;
};

function readTool(entry: Entry, name: string, { walker, file, tools }: Reading): void {
  const { group, value } = walker;
  const known = toolNamed(entry, entry.key, walker, tools);
  if (known === undefined) return;
  const rules: ToolRules = file.tools.get(known.name) ?? { isOn: undefined, patterns: [] };
  file.tools.set(known.name, rules);
  const taken: Record<"high" | "medium", Action> = { high: "ask", medium: "ask" };
  let listed: Entry | undefined;
  group(entry, name, {
    enabled: (inside, key) => {
      rules.isOn = value(inside, key, toggle);
    },
    patterns: (inside) => {
      listed = inside;
    },
    actions: (inside, key) =>
      group(inside, key, {
        high_risk: (one, at) => {
          taken.high = value(one, at, action)?.value ?? "ask";
        },
        medium_risk: (one, at) => {
          taken.medium = value(one, at, action)?.value ?? "ask";
        },
      }),
    rules: (inside, key) => void rules.patterns.push(...readPatterns(inside, key, "each says it", walker, known)),
  });
  const add =
    (risk: "high" | "medium"): Take =>
    (one, key) =>
      void rules.patterns.push(...readPatterns(one, key, { action: taken[risk], risk }, walker, known));
  if (listed !== undefined) group(listed, `${name}.patterns`, { high_risk: add("high"), medium_risk: add("medium") });
}

function readPatterns(
  entry: Entry,
  name: string,
  said: Said | "each says it",
  walker: Walker,
  tool?: KnownTool,
): PatternRule[] {
  const example = said === "each says it" ? "{ pattern: prod, action: deny }" : "\\bprod-\\w+";
  return (walker.list(entry, name, example) ?? []).flatMap((item) => {
    const rule = readPattern(item, name, said, walker);
    if (tool !== undefined) checkArgument(item, rule, walker, tool);
    return rule === undefined ? [] : [rule];
  });
}

/** A rule about an argument that its tool does not have would never act. */
function checkArgument(item: Item, rule: PatternRule | undefined, walker: Walker, tool: KnownTool): void {
  const { argument } = rule ?? {};
  if (argument === undefined || (tool.arguments?.includes(argument) ?? true)) return;
  const near = nearest(argument, tool.arguments ?? [], 1)[0] ?? "";
  walker.problems.push({
    ...{ fault: "unknown_argument", tool: tool.name, name: argument, near },
    place: walker.placeOf(item),
  });
}

const usualRisk: Readonly<Record<Action, Risk>> = { allow: "low", ask: "medium", deny: "high" };

/** A pattern alone, or `{ pattern, argument }`; among the rules of a tool also with its action and reason. */
function readPattern(item: Item, name: string, said: Said | "each says it", walker: Walker): PatternRule | undefined {
  const { value, problems, placeOf, sourceOf } = walker;
  const rule: { pattern?: string; argument?: string; action: Action; risk?: Risk; reason?: string | undefined } =
    said === "each says it" ? { action: "ask" } : { ...said };
  const keys: Record<string, Take> = {
    pattern: (entry, key) => void Object.assign(rule, { pattern: value(entry, key, word)?.value }),
    argument: (entry, key) => void Object.assign(rule, { argument: value(entry, key, word)?.value }),
  };
  if (said === "each says it") {
    keys.action = (entry, key) => {
      rule.action = value(entry, key, action)?.value ?? "ask";
    };
    keys.reason = (entry, key) => {
      rule.reason = value(entry, key, word)?.value;
    };
  }
  const problemsBefore = problems.length;
  if (item.content.form === "group") walker.entries(item.content.entries, `${name}.`, keys);
  else Object.assign(rule, { pattern: value(item, name, word)?.value });
  const { pattern, risk = usualRisk[rule.action], ...rest } = rule;
  if (pattern === undefined) {
    if (problems.length === problemsBefore) problems.push({ fault: "pattern_missing", name, place: placeOf(item) });
    return undefined;
  }
  const compiled = compilePattern(pattern);
  if (!compiled.ok) {
    problems.push({ fault: "pattern", pattern, why: compiled.failure, place: placeOf(item) });
    return undefined;
  }
  return { ...rest, pattern, risk, source: sourceOf(item) };
}

function readWords(entry: Entry, name: string, walker: Walker): Given<readonly string[]> | undefined {
  const items = walker.list(entry, name, "ls");
  if (items === undefined) return undefined;
  const words = items.flatMap((item) => walker.value(item, name, word)?.value ?? []);
  return { value: words, place: walker.placeOf(entry) };
}
