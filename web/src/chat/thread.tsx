import { useEffect, useRef } from "react";
import { VList, type VListHandle } from "virtua";
import { useStore } from "../app/store.ts";
import { DecisionCard } from "../decisions/decision-card.tsx";
import { Markdown } from "../markdown/markdown.tsx";
import { useWords } from "../words/words.ts";
import type { OpenConversation } from "./conversation.ts";
import type { Item } from "./items.ts";

export function Thread({ opened }: { readonly opened: OpenConversation }) {
  const { items, queue, run, phase, failure } = useStore(opened.view);
  const words = useWords().chat;
  const list = useRef<VListHandle>(null);
  const waiting = run === undefined ? queue.map(({ item }) => item) : [];
  const rows: readonly Item[] = [...items, ...waiting];
  const count = rows.length;
  useEffect(() => {
    if (count > 0) list.current?.scrollToIndex(count, { align: "end" });
  }, [count]);
  if (phase === "failed") return <p className="greeting">{failure?.detail ?? words.notFound}</p>;
  if (phase === "deleted") return <p className="greeting">{words.deleted}</p>;
  return (
    <VList ref={list} className="thread" aria-label={words.thread} role="log">
      {rows.map((item) => (
        <div key={item.key} className="row">
          <Row conversation={opened.id} item={item} />
        </div>
      ))}
      <div key="live" className="row">
        <Live opened={opened} />
      </div>
    </VList>
  );
}

function Row({ conversation, item }: { readonly conversation: string; readonly item: Item }) {
  const words = useWords().chat;
  switch (item.kind) {
    case "user":
      return (
        <article className="said" aria-label={words.you}>
          <div className="bubble">{item.text}</div>
        </article>
      );
    case "answer":
      return (
        <article className="answer" aria-label={words.assistant}>
          <Markdown text={item.text} />
        </article>
      );
    case "call":
      return (
        <p className="call">
          {item.name} · {item.state}
        </p>
      );
    case "decision":
      return <DecisionCard conversation={conversation} item={item} />;
    case "compaction":
    case "notice":
    case "end":
      return null;
  }
}

function Live({ opened }: { readonly opened: OpenConversation }) {
  const writing = useStore(opened.live.writing);
  const words = useWords().chat;
  if (writing === undefined) return null;
  return (
    <article className="answer" aria-label={words.assistant} aria-busy="true">
      <Markdown text={writing.text} isOpen />
    </article>
  );
}
