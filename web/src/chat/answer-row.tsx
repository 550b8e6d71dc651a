import { useStore } from "../app/store.ts";
import { Markdown } from "../markdown/markdown.tsx";
import { Icon } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";
import type { OpenConversation } from "./conversation.ts";
import type { AnswerItem } from "./items.ts";

export function AnswerRow({ item }: { readonly item: AnswerItem }) {
  const words = useWords().chat;
  return (
    <article className="answer" aria-label={words.agent}>
      {item.reasoning.trim() !== "" && <Reasoning text={item.reasoning} isOpen={false} />}
      {item.text.trim() === "" && !item.hasCalls && !item.cut ? (
        <p className="notice">{words.emptyAnswer}</p>
      ) : (
        <Markdown text={item.text} />
      )}
      {item.cut && <p className="notice">{words.cutHere}</p>}
    </article>
  );
}

type ReasoningProps = { readonly text: string; readonly isOpen: boolean };

/** Folded, as a call is: what the model thought is for who wants to know. */
function Reasoning({ text, isOpen }: ReasoningProps) {
  const words = useWords().chat;
  return (
    <details className="reasoning">
      <summary className="call-line">
        <Icon name="right" size={16} />
        <span className="call-name">{isOpen ? words.thinking : words.thought}</span>
        <span className="call-object">{isOpen ? lastLine(text) : ""}</span>
      </summary>
      <div className="reasoning-text">{text.trim()}</div>
    </details>
  );
}

function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1) ?? "";
}

/** The answer while it is written. It is not read aloud word by word: its end is announced. */
export function LiveRow({ opened }: { readonly opened: OpenConversation }) {
  const writing = useStore(opened.live.writingOf());
  const { run, decisions } = useStore(opened.view);
  const words = useWords().chat;
  if (writing === undefined) {
    const isAlone = run !== undefined && decisions.length === 0;
    return isAlone ? <p className="working">{words.working}</p> : null;
  }
  return (
    <article className="answer" aria-label={words.agent} aria-busy="true">
      {writing.reasoning.trim() !== "" && <Reasoning text={writing.reasoning} isOpen={writing.text === ""} />}
      <Markdown text={writing.text} isOpen />
    </article>
  );
}
