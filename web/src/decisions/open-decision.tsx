import { useRef } from "react";
import { asksForWords } from "../../../src/protocol/approval.ts";
import type { Decision } from "../../../src/protocol/resources.ts";
import { Icon } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";
import { AgentPath } from "./agent-path.tsx";
import { ApprovalActions } from "./approval-actions.tsx";
import { EffectView } from "./effect-view.tsx";
import { FormAnswer } from "./form-answer.tsx";
import { QuestionAnswer } from "./question-answer.tsx";
import { reasonsOf } from "./reasons.ts";

type OpenDecisionProps = { readonly decision: Decision };

/** What a person is asked: who asks, what exactly would happen, why they are asked, and what they can say. */
export function OpenDecision({ decision }: OpenDecisionProps) {
  const words = useWords().decisions;
  const card = useRef<HTMLElement>(null);
  const { kind, tool, path, risk, context } = decision;
  const isApproval = kind === "approval";
  const title = isApproval ? words.needsApproval({ tool: words.tools(tool) }) : words.asks;
  return (
    <section
      ref={card}
      className="card decision"
      aria-label={title}
      tabIndex={-1}
      data-decision={decision.id}
      data-risk={risk}
    >
      <header className="decision-head">
        <Icon name={isApproval ? "warning" : "quote"} size={18} />
        <strong>{title}</strong>
        {isApproval && (
          <span className="chip" data-risk={risk ?? "medium"}>
            {words.risk[risk ?? "medium"]}
          </span>
        )}
      </header>
      {path.length > 1 && <AgentPath decision={decision} />}
      {isApproval && <EffectView tool={tool} written={decision.arguments ?? "{}"} />}
      {!isApproval && <p className="question">{decision.question}</p>}
      {context !== undefined && context !== "" && <p className="context">{context}</p>}
      {isApproval && <Why decision={decision} />}
      {isApproval && <ApprovalActions card={card} decision={decision} />}
      {kind === "question" && <QuestionAnswer decision={decision} />}
      {kind === "elicitation" && <FormAnswer decision={decision} />}
      {!isApproval && !asksForWords(kind) && <p className="meta">{words.forCaller}</p>}
    </section>
  );
}

/** Every finding, with the layer that said it and where its rule is set. */
function Why({ decision }: { readonly decision: Decision }) {
  const words = useWords().decisions;
  const reasons = reasonsOf(decision, words);
  if (reasons.length === 0) return null;
  return (
    <ul className="reasons">
      {reasons.map(({ text, by }) => (
        <li key={`${text}${by}`}>
          {text}
          {by !== "" && <span className="meta"> · {by}</span>}
        </li>
      ))}
    </ul>
  );
}
