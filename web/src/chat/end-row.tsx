import { countText, durationText, fullTimeText, timeText } from "../app/format.ts";
import { Button, IconButton } from "../parts/button.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { useWords } from "../words/words.ts";
import { useActions } from "./actions.ts";
import { putIntoComposer } from "./composer.tsx";
import type { OpenConversation } from "./conversation.ts";
import { FailureText } from "./failure-text.tsx";
import type { EndItem } from "./items.ts";

type EndRowProps = { readonly opened: OpenConversation; readonly item: EndItem; readonly isLast: boolean };

/** The end of a turn: how it ended, and what can be done with its answer. */
export function EndRow({ opened, item, isLast }: EndRowProps) {
  const { chat, language } = useWords();
  const { sayAgain, branch } = useActions(opened);
  const { outcome, failure, answer, usage } = item;
  const tokens = usage.input + usage.output;
  const quote = () => putIntoComposer(String(getSelection() ?? "").trim() || answer, "quote");
  return (
    <footer className="end">
      {outcome !== "done" && (
        <p className="ending" data-outcome={outcome}>
          {chat.outcomes[outcome]} {failure !== undefined && <FailureText failure={failure} />}
          {isLast && item.message !== "" && (
            <Button onClick={() => void sayAgain(item.message)}>{chat.tryAgain}</Button>
          )}
        </p>
      )}
      <div className="tools">
        <span className="tool-note" title={fullTimeText(item.at, language)}>
          {timeText(item.at, language)} · {durationText(item.at - item.startedAt, language)}
          {tokens > 0 && ` · ${chat.tokens({ count: countText(tokens, language) })}`}
        </span>
        {answer !== "" && <CopyButton text={answer} />}
        {answer !== "" && <IconButton icon="quote" label={chat.quote} onClick={quote} />}
        {isLast && item.message !== "" && (
          <IconButton icon="again" label={chat.regenerate} onClick={() => void sayAgain(item.message)} />
        )}
        <IconButton icon="branch" label={chat.branchAfter} onClick={() => void branch(item.seq)} />
      </div>
    </footer>
  );
}
