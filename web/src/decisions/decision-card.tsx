import { useEffect, useMemo } from "react";
import type { EventOf } from "../../../src/protocol/events.ts";
import { decisionOf } from "../../../src/protocol/resources.ts";
import { useStore } from "../app/store.ts";
import { useYard } from "../app/yard.ts";
import type { DecisionItem } from "../chat/items.ts";
import { Icon } from "../parts/icon.tsx";
import { Time } from "../parts/time.tsx";
import { useWords, type Words } from "../words/words.ts";
import { EffectView } from "./effect-view.tsx";
import { OpenDecision } from "./open-decision.tsx";
import { matchText } from "./reasons.ts";

export type DecisionCardProps = { readonly conversation: string; readonly item: DecisionItem };

/** What a person is asked in a conversation; once it is decided, the record of it stays in its place. */
export function DecisionCard({ conversation, item }: DecisionCardProps) {
  const { asked, made, at, isGone } = item;
  const { inbox } = useYard();
  const decision = useMemo(() => decisionOf(conversation, asked, at), [conversation, asked, at]);
  const isOpen = made === undefined && !isGone;
  // The stream hears of it before the inbox does.
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever it opens or closes
  useEffect(() => void inbox.load(), [inbox, isOpen]);
  if (made !== undefined) return <Decided asked={asked} made={made} />;
  return isGone ? <Gone asked={asked} /> : <OpenDecision decision={decision} />;
}

/** Whoever asked was stopped. */
function Gone({ asked }: { readonly asked: EventOf<"decision.asked"> }) {
  const words = useWords().decisions;
  return (
    <p className="decided-line">
      <Icon name="stop" size={16} />
      <span className="decided-what">{whatOf(asked, words)}</span>
      <span className="meta">{words.gone}</span>
    </p>
  );
}

function whatOf({ kind, tool, question }: EventOf<"decision.asked">, words: Words["decisions"]): string {
  return kind === "approval" ? words.tools(tool) : (question ?? tool);
}

type DecidedProps = {
  readonly asked: EventOf<"decision.asked">;
  readonly made: EventOf<"decision.made">;
};

function Decided({ asked, made }: DecidedProps) {
  const words = useWords().decisions;
  const { me } = useYard();
  const own = useStore(me)?.user?.id ?? "local";
  const { verdict, by, reason, answer, rule } = made;
  const who = by === "rule" ? words.aRule : by === own ? words.you : by;
  const isNo = verdict === "reject";
  return (
    <details className="decided" data-verdict={verdict}>
      <summary>
        <Icon name={isNo ? "cross" : "check"} size={16} />
        <span className="decided-what">{whatOf(asked, words)}</span>
        <span className="meta">
          {words.decided[verdict]({ who })} · <Time at={made.at} />
        </span>
      </summary>
      {reason !== undefined && reason !== "" && <p>{words.reasonGiven({ reason })}</p>}
      {answer !== undefined && <p className="question">{answer}</p>}
      {rule !== undefined && (
        <p>
          {words.ruleStored({ rule: matchText(rule.match, words) })} · {words.scope[rule.scope]}
        </p>
      )}
      {asked.kind === "approval" && (
        <EffectView tool={asked.tool} written={made.arguments ?? asked.arguments ?? "{}"} />
      )}
    </details>
  );
}
