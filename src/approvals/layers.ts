import { assert } from "../base/assert.ts";
import type { Finding, Layer, Risk } from "../protocol/approval.ts";
import type { CallFacts, JudgedCall } from "./approvals.ts";
import { argumentTexts, shortened } from "./argument-texts.ts";
import { askCheckers, type Checker } from "./checkers.ts";
import { defaultFindings } from "./defaults.ts";
import { compilePattern, type Pattern } from "./pattern.ts";
import type { HitlRules, PatternRule } from "./rules.ts";
import { withoutSecrets } from "./secrets.ts";

/** What one layer says of a call: a finding, or an allow in so many words. */
export type Opinion =
  | Finding
  | {
      readonly action: "allow";
      readonly layer: Layer;
      readonly risk: Risk;
      readonly said?: string | undefined;
      readonly source?: string | undefined;
    };

export type Layers = {
  /** All four are asked, whatever one of them says. */
  ask(call: JudgedCall, facts: CallFacts): readonly Opinion[];
};

/** The layers in their order: checkers, patterns for all tools, rules of one tool, what holds by default. */
export function openLayers(rules: HitlRules, checkers: readonly Checker[]): Layers {
  const { global, tools, safeCommands } = rules;
  const globalRules = global.isOn ? global.patterns.map(compileRule) : [];
  const toolRules = new Map(Object.entries(tools).map(([name, { patterns }]) => [name, patterns.map(compileRule)]));
  return {
    ask(call, facts) {
      const isToolOn = tools[call.tool]?.isOn !== false;
      const said: Opinion[] = [
        ...askCheckers(checkers, call, facts),
        ...globalRules.flatMap((rule) => askRule(rule, call, "global")),
      ];
      if (isToolOn) {
        said.push(...(toolRules.get(call.tool) ?? []).flatMap((rule) => askRule(rule, call, "tool")));
        said.push(...ownWord(call));
      }
      // What somebody spoke about is not left to the default action.
      const action = global.isOn && said.length === 0 ? global.defaultAction : "allow";
      const otherwise = { action, source: global.defaultSource, safeCommands, isToolOn };
      return [...said, ...defaultFindings(call, facts, otherwise)];
    },
  };
}

type Compiled = PatternRule & { readonly compiled: Pattern };

function compileRule(rule: PatternRule): Compiled {
  const compiled = compilePattern(rule.pattern);
  assert(compiled.ok, "a pattern is checked where it is read");
  return { ...rule, compiled: compiled.value };
}

/** A pattern is tried on each argument by itself, never on all of them in a row. */
function askRule(
  { compiled, argument, action, risk, reason, source }: Compiled,
  call: JudgedCall,
  layer: Layer,
): Opinion[] {
  const text = argumentTexts(call, argument).find((one) => compiled.matches(one));
  if (text === undefined) return [];
  if (action === "allow") return [{ action, layer, risk, said: reason, source }];
  return [
    {
      kind: "rule",
      action,
      layer,
      risk,
      what: shortened(withoutSecrets(text.slice(0, shownCharactersMax))),
      source,
      ...(reason !== undefined && { said: reason }),
    },
  ];
}

/** More than is shown: a secret that is cut in two is not found any more. */
const shownCharactersMax = 4096;

/** What the tool itself says of these arguments. */
function ownWord({ own, tool }: JudgedCall): Finding[] {
  if (own === undefined) return [];
  return [{ kind: "rule", action: "ask", layer: "tool", risk: own.risk, what: tool, said: own.reason }];
}
