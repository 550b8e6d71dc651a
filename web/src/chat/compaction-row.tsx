import { countText } from "../app/format.ts";
import { Markdown } from "../markdown/markdown.tsx";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";
import { useActions } from "./actions.ts";
import type { OpenConversation } from "./conversation.ts";
import type { CompactionItem } from "./items.ts";

type CompactionRowProps = {
  readonly opened: OpenConversation;
  readonly item: CompactionItem;
  /** It can be undone: it is the newest, and nothing runs. */
  readonly canUndo: boolean;
};

/** Where older messages were summed up for the model. All of them still stand above; the summary can be read. */
export function CompactionRow({ opened, item, canUndo }: CompactionRowProps) {
  const { chat, language } = useWords();
  const { undoCompaction } = useActions(opened);
  const { messagesBefore, messagesAfter, tokensBefore, tokensAfter, summary, prose } = item.event;
  const tokens =
    tokensBefore === undefined || tokensAfter === undefined
      ? ""
      : chat.compactedTokens({ before: countText(tokensBefore, language), after: countText(tokensAfter, language) });
  const shown = prose === undefined ? summary : summary.slice(prose.at, prose.at + prose.length);
  return (
    <details className="compaction">
      <summary className="call-line">
        <Icon name="right" size={16} />
        <span className="call-name">
          {item.isUndone ? chat.compactionUndone : chat.compacted({ before: messagesBefore, after: messagesAfter })}
        </span>
        <span className="call-object">{tokens}</span>
      </summary>
      <div className="compaction-body">
        <p className="notice">{chat.compactedNote}</p>
        {shown.trim() !== "" && <Markdown text={shown} />}
        {canUndo && !item.isUndone && <Button onClick={() => void undoCompaction()}>{chat.undoCompaction}</Button>}
      </div>
    </details>
  );
}
