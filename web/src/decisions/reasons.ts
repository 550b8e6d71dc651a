import type { RuleMatch } from "../../../src/protocol/approval.ts";
import type { Decision } from "../../../src/protocol/resources.ts";
import type { Words } from "../words/words.ts";

type DecisionWords = Words["decisions"];

export type Reason = { readonly text: string; readonly by: string };

/** Why a person is asked; the words of the log where nothing more is known. */
export function reasonsOf({ findings = [], reason }: Decision, words: DecisionWords): Reason[] {
  if (findings.length === 0) return reason === undefined || reason === "" ? [] : [{ text: reason, by: "" }];
  const reasons = findings.map(({ kind, what, said, layer, source }) => ({
    text: said ?? words.found[kind]({ what }),
    by: source === undefined ? words.layer[layer] : `${words.layer[layer]} (${source})`,
  }));
  return findings.some(({ raised }) => raised === true) ? [...reasons, { text: words.raised, by: "" }] : reasons;
}

/** What a rule lets pass: one call to the byte, or everything of its kind. */
export function matchText(match: RuleMatch, words: Words["decisions"]): string {
  if (match.match === "call") return words.exactly({ shown: match.shown });
  return match.covers.map(({ pattern }) => pattern).join(words.comma);
}
