import { useEffect, useRef, useState } from "react";
import { asksForWords } from "../../../src/protocol/approval.ts";
import type { Decision } from "../../../src/protocol/resources.ts";
import { Link } from "../app/link.tsx";
import { useStore } from "../app/store.ts";
import { useYard } from "../app/yard.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Time } from "../parts/time.tsx";
import { useWords } from "../words/words.ts";
import { effectLine } from "./effect.ts";
import { askToNotify, notifying } from "./notify.ts";
import { OpenDecision } from "./open-decision.tsx";
import { isTyping } from "./use-decision.ts";

/** Everything that waits for this person, in all conversations; and what they have decided since the page was opened. */
export function InboxPage() {
  const words = useWords().decisions;
  const { inbox } = useYard();
  const { items, decided, phase } = useStore(inbox.view);
  const list = useRef<HTMLUListElement>(null);
  useMoving(list);
  return (
    <main className="page inbox" id="place">
      <header className="page-head">
        <h1>{words.title}</h1>
        <span className="meta">{words.waiting({ count: items.length })}</span>
        <Notifying />
      </header>
      {phase === "failed" && <p className="trouble">{words.unreachable}</p>}
      {phase === "ready" && items.length === 0 && <p className="about">{words.about}</p>}
      <ul className="inbox-list" ref={list}>
        {items.map((decision) => (
          <li key={decision.id}>
            <Where conversation={decision.conversation} at={decision.at} />
            <OpenDecision decision={decision} />
          </li>
        ))}
      </ul>
      {items.length > 0 && <p className="meta keys-hint">{words.keysHint}</p>}
      {decided.length > 0 && (
        <section className="inbox-decided" aria-label={words.decidedHere}>
          <h2>{words.decidedHere}</h2>
          <ul>
            {decided.map(({ decision, verdict, reason, at }) => (
              <li key={`${decision.id}${at}`} className="decided-line">
                <Icon name={verdict === "reject" ? "cross" : "check"} size={16} />
                <span className="decided-what">{lineOf(decision, words.tools(decision.tool))}</span>
                <span className="meta">
                  {words.decided[verdict]({ who: words.you })}
                  {reason !== "" && ` · ${reason}`} · <Time at={at} />
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </main>
  );
}

export function lineOf({ kind, question, tool, arguments: written = "{}" }: Decision, verb: string): string {
  return asksForWords(kind) ? (question ?? tool) : `${verb}: ${effectLine(tool, written)}`;
}

function Where({ conversation, at }: { readonly conversation: string; readonly at: number }) {
  const { conversations, client } = useYard();
  const words = useWords();
  const { items } = useStore(conversations.view);
  const known = items.find(({ id }) => id === conversation)?.title;
  const [title, setTitle] = useState("");
  useEffect(() => {
    if (known !== undefined) return;
    void client()
      .call("getConversation", { params: { id: conversation }, query: {} })
      .then((found) => found.ok && setTitle(found.value.title));
  }, [known, conversation, client]);
  return (
    <p className="inbox-where">
      <Link to={{ page: "chat", conversation }}>{(known ?? title) || words.conversations.untitled}</Link>
      <span className="meta">
        <Time at={at} />
      </span>
    </p>
  );
}

/** The browser asks only when somebody wants to be told. */
function Notifying() {
  const words = useWords().decisions;
  const [state, setState] = useState(notifying);
  if (state === "on" || state === "unable") return null;
  if (state === "refused") return <span className="meta">{words.notifyRefused}</span>;
  return <Button onClick={() => void askToNotify().then(setState)}>{words.notifyMe}</Button>;
}

/** J and K go from card to card. */
function useMoving(list: React.RefObject<HTMLUListElement | null>): void {
  const { settings } = useYard();
  const { lacksKeys } = useStore(settings);
  useEffect(() => {
    if (lacksKeys) return undefined;
    const press = (event: KeyboardEvent) => {
      const step = { j: 1, k: -1 }[event.key];
      if (step === undefined || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const cards = [...(list.current?.querySelectorAll<HTMLElement>("[data-decision]") ?? [])];
      const now = cards.findIndex((card) => card.contains(document.activeElement));
      cards[Math.min(cards.length - 1, Math.max(0, now + step))]?.focus();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [lacksKeys, list]);
}
