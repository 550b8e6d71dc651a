import { type AllowRule, type Finding, type Layer, Risk, type RuleMatch } from "../protocol/approval.ts";
import type { EffectClass } from "../protocol/events.ts";
import { findingWords, wordsFor } from "../words/words.ts";
import { alwaysOffered, coveringRule } from "./always.ts";
import type { Checker } from "./checkers.ts";
import { type KnownScripts, scriptsOf } from "./code.ts";
import { type Opinion, openLayers } from "./layers.ts";
import type { HitlRules } from "./rules.ts";

export { argumentsHash } from "../log/log.ts";
export { type Checker, loadCheckers } from "./checkers.ts";
export { type Action, actions, type HitlRules, type PatternRule } from "./rules.ts";
export { secretIn } from "./secrets.ts";
export { unreadScript } from "./shell/scene.ts";

/** A call as it is judged: its tool by the name it is known under, and its arguments after they were read. */
export type JudgedCall = {
  readonly tool: string;
  /** What a crash in the middle of it may do; unsafe where it is not said. Pure tools only look. */
  readonly class?: EffectClass | undefined;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Exactly as a model or a person wrote them: an "allow always" for one call is about these bytes. */
  readonly written: string;
  /** To whom outside the arguments are sent. */
  readonly outward?: Outward | undefined;
  /** What the tool itself says of these arguments. */
  readonly own?: { readonly reason: string; readonly risk: Risk } | undefined;
};

/** Who gets what a tool is told: a host, or an MCP server by its id. `isReading`: nothing is changed there. */
export type Outward = {
  readonly by: "tool_box" | "mcp_server";
  readonly host: string;
  readonly isReading: boolean;
};

/** What is true where the call would run. */
export type CallFacts = {
  /** Programs run in a sandbox that keeps them from everything but their own files. */
  readonly contained: boolean;
  /** Programs in it reach hosts of the network. */
  readonly network: boolean;
  /** The conversation has read text from outside. */
  readonly tainted: boolean;
  /** The address that the call names was written by the user, or stood in a page or a search; not where it is not said. */
  readonly addressNamed?: boolean | undefined;
  /** The root of the files as programs see it (`/workspace/{id}`); it is also where they start. */
  readonly root: string;
  /**
   * Texts of the scripts that the call runs (`scriptsOf`), by the path it names them with. A missing one is not there, but
   * for those outside the files, which nobody can look at; `unreadScript` for one that is there and could not be read.
   */
  readonly scripts: ReadonlyMap<string, string>;
};

export type Verdict = {
  readonly verdict: "allow" | "ask" | "deny";
  readonly risk: Risk;
  /** Whose word it was: that of the strictest finding. `always` when a stored rule turned an ask into an allow. */
  readonly layer: Layer | "always";
  /** In English, for logs and models; people read the findings in their language. */
  readonly reason: string;
  /** The strictest first; empty when nothing was found. */
  readonly findings: readonly Finding[];
  /** What an "allow always" would store, the narrowest first; empty unless the verdict is `ask`. */
  readonly always: readonly RuleMatch[];
  /** The stored rule that allowed it. */
  readonly rule?: AllowRule | undefined;
};

/** The rules of this installation. Pure: nothing is read, and the same call with the same facts has the same verdict. */
export interface Approvals {
  /** `stored`: what the user allowed always and what counts in this conversation. */
  judge(call: JudgedCall, facts: CallFacts, stored: readonly AllowRule[]): Verdict;
  /** The files whose texts belong into the facts, without those that are known already: scripts name further ones. */
  scriptsOf(call: Pick<JudgedCall, "tool" | "arguments">, known?: KnownScripts): readonly string[];
  /** From the next call on. */
  change(rules: HitlRules): void;
}

export function openApprovals(options: {
  readonly rules: HitlRules;
  readonly checkers: readonly Checker[];
}): Approvals {
  const { checkers } = options;
  let layers = openLayers(options.rules, checkers);
  return {
    scriptsOf: (call, known) => scriptsOf(call, known),
    change(rules) {
      layers = openLayers(rules, checkers);
    },
    judge(call, facts, stored) {
      const said = layers.ask(call, facts);
      const findings = said.filter(isFinding).toSorted(strictestFirst);
      const [strictest] = findings;
      if (strictest === undefined) return allowed(said);
      const about = {
        findings,
        layer: strictest.layer,
        risk: strictest.risk,
        reason: reasonOf(findings.filter(({ action }) => action === strictest.action)),
      };
      if (strictest.action === "deny") return { verdict: "deny", ...about, always: [] };
      const rule = coveringRule(call, facts, findings, stored);
      if (rule !== undefined) return { ...about, verdict: "allow", layer: "always", always: [], rule };
      return { verdict: "ask", ...about, always: alwaysOffered(call, facts, findings) };
    },
  };
}

function isFinding(said: Opinion): said is Finding {
  return said.action !== "allow";
}

const risks = Risk.options;

/** A no before a question, then by risk; what is equal stays in the order of the layers. */
function strictestFirst(one: Finding, other: Finding): number {
  if (one.action !== other.action) return one.action === "deny" ? -1 : 1;
  return risks.indexOf(other.risk) - risks.indexOf(one.risk);
}

/** Somebody may have allowed it in so many words; otherwise nobody said anything. */
function allowed(said: readonly Opinion[]): Verdict {
  const [word] = said;
  return {
    verdict: "allow",
    risk: word?.risk ?? "low",
    layer: word?.layer ?? "default",
    reason: word?.said ?? (word === undefined ? english.nothing() : english.allowed({ source: word.source ?? "" })),
    findings: [],
    always: [],
  };
}

const english = wordsFor("en").approvals.verdict;
const { approvals: texts } = wordsFor("en").terminal;
const reasonsMax = 3;

function reasonOf(findings: readonly Finding[]): string {
  // Who is told that something is never allowed can look up where that is set.
  const sourceOf = ({ action, source }: Finding) =>
    action === "deny" && source !== undefined ? ` ${texts.source({ source })}` : "";
  const reasons = new Set(
    findings.map((finding) => findingWords(wordsFor("en"), finding).replace(/\.$/, "") + sourceOf(finding)),
  );
  const [...told] = reasons;
  return [
    ...told.slice(0, reasonsMax),
    ...(told.length > reasonsMax ? [english.more({ count: told.length - reasonsMax })] : []),
  ].join("; ");
}
