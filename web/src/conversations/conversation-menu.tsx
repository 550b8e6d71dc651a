import { useState } from "react";
import { go, usePlace } from "../app/router.ts";
import { useYard } from "../app/yard.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Menu, type MenuEntry } from "../parts/menu.tsx";
import { useWords } from "../words/words.ts";
import { undoMs } from "./list.ts";

type ConversationMenuProps = {
  readonly id: string;
  readonly title: string;
  readonly isPinned: boolean;
  /** It is the one that is shown. */
  readonly isOpen: boolean;
  readonly more?: readonly MenuEntry[] | undefined;
};

/** What can be done with a conversation as a whole. */
export function ConversationMenu({ id, title, isPinned, isOpen, more = [] }: ConversationMenuProps) {
  const words = useWords().conversations;
  const { conversations, toasts } = useYard();
  const [isRenaming, setRenaming] = useState(false);
  const place = usePlace();
  const pin = async () => {
    const failure = await conversations.pin(id, !isPinned);
    if (failure !== undefined) toasts.tell({ kind: "trouble", text: failure.detail });
  };
  const remove = () => {
    const undo = conversations.remove(id);
    const isShown = place.page === "chat" && place.conversation === id;
    if (isShown) go({ page: "chat", conversation: undefined });
    const close = toasts.tell(
      {
        ...{ kind: "news", text: words.removed({ title }) },
        action: {
          label: words.undo,
          run: () => {
            undo();
            close();
            if (isOpen) go({ page: "chat", conversation: id });
          },
        },
      },
      undoMs,
    );
  };
  return (
    <>
      <Menu
        label={words.menu({ title })}
        entries={[
          { label: words.rename, run: () => setRenaming(true) },
          { label: isPinned ? words.unpin : words.pin, run: () => void pin() },
          ...more,
          { label: words.remove, run: remove, isDanger: true },
        ]}
      />
      {isRenaming && <RenameDialog id={id} title={title} onClose={() => setRenaming(false)} />}
    </>
  );
}

type RenameDialogProps = { readonly id: string; readonly title: string; readonly onClose: () => void };

const titleCharactersMax = 200;

function RenameDialog({ id, title, onClose }: RenameDialogProps) {
  const words = useWords();
  const { conversations, toasts } = useYard();
  const [text, setText] = useState(title);
  const save = async () => {
    if (text.trim() === "") return;
    const failure = await conversations.rename(id, text.trim());
    if (failure !== undefined) toasts.tell({ kind: "trouble", text: failure.detail });
    onClose();
  };
  return (
    <Dialog title={words.conversations.rename} onClose={onClose}>
      <form
        className="dialog-form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <label>
          {words.conversations.renameTo}
          <input
            className="field"
            value={text}
            maxLength={titleCharactersMax}
            onFocus={(event) => event.target.select()}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        <div className="edit-bar">
          <Button onClick={onClose}>{words.chat.cancel}</Button>
          <Button type="submit" kind="main">
            {words.conversations.rename}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
