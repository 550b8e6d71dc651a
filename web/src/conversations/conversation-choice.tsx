import { useEffect } from "react";
import { useStore } from "../app/store.ts";
import { useYard } from "../app/yard.ts";
import { useWords } from "../words/words.ts";

type ConversationChoiceProps = {
  readonly label: string;
  readonly chosen: string;
  /** Of one that is not among the listed ones. */
  readonly title?: string | undefined;
  readonly onChoose: (conversation: string) => void;
};

/** Whose files or agents a page shows. */
export function ConversationChoice({ label, chosen, title = "", onChoose }: ConversationChoiceProps) {
  const words = useWords().conversations;
  const { items } = useStore(useYard().conversations.view);
  const isListed = items.some(({ id }) => id === chosen);
  return (
    <label className="conversation-choice">
      {label}
      <select className="field" value={chosen} onChange={({ target }) => onChoose(target.value)}>
        {!isListed && <option value={chosen}>{title || words.untitled}</option>}
        {items.map((item) => (
          <option key={item.id} value={item.id}>
            {item.title || words.untitled}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The conversations there are, looked up anew when a page is opened. */
export function useListed() {
  const { conversations } = useYard();
  useEffect(() => {
    void conversations.refresh();
  }, [conversations]);
  return useStore(conversations.view);
}
