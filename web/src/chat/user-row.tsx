import { useState } from "react";
import { bytesText, fullTimeText, timeText } from "../app/format.ts";
import { Link } from "../app/link.tsx";
import { shownName } from "../files/file-names.ts";
import { Button, IconButton } from "../parts/button.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { Icon } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";
import { useActions } from "./actions.ts";
import { imageAddress } from "./call-card.tsx";
import type { OpenConversation } from "./conversation.ts";
import type { UserItem } from "./items.ts";

type UserRowProps = { readonly opened: OpenConversation; readonly item: UserItem; readonly isBusy: boolean };

export function UserRow({ opened, item, isBusy }: UserRowProps) {
  const { chat, language } = useWords();
  const [isEditing, setEditing] = useState(false);
  const { branch } = useActions(opened);
  if (isEditing) return <EditForm opened={opened} item={item} onEnd={() => setEditing(false)} />;
  return (
    <article className="said" aria-label={chat.you}>
      <div className="bubble">
        {item.text}
        <UserFiles opened={opened} item={item} />
      </div>
      <div className="tools">
        {item.steered && <span className="tool-note">{chat.steered}</span>}
        {item.seq === 0 ? (
          <span className="tool-note">{chat.sending}</span>
        ) : (
          <>
            <CopyButton text={item.text} />
            {!isBusy && !item.steered && <IconButton icon="edit" label={chat.edit} onClick={() => setEditing(true)} />}
            <IconButton
              icon="branch"
              label={chat.branchBefore}
              onClick={() => void branch(item.seq - 1 || undefined)}
            />
            <time className="tool-note" title={fullTimeText(item.at, language)}>
              {timeText(item.at, language)}
            </time>
          </>
        )}
      </div>
    </article>
  );
}

function UserFiles({ opened, item }: Omit<UserRowProps, "isBusy">) {
  const { language } = useWords();
  return (
    <>
      {item.images.map(({ mime, base64 }) => (
        <img key={base64.slice(-40)} className="call-image" alt="" src={imageAddress(mime, base64)} />
      ))}
      {item.files.length > 0 && (
        <span className="call-files">
          {item.files.map(({ path, bytes }) => (
            <Link key={path} to={{ page: "chat", conversation: opened.id, file: path }} className="file-chip">
              <Icon name="files" size={16} />
              {shownName(path)}
              <span className="file-note">{bytesText(bytes, language)}</span>
            </Link>
          ))}
        </span>
      )}
    </>
  );
}

function EditForm({ opened, item, onEnd }: Omit<UserRowProps, "isBusy"> & { readonly onEnd: () => void }) {
  const words = useWords().chat;
  const [text, setText] = useState(item.text);
  const { sayAgain } = useActions(opened);
  const save = async () => {
    if (text.trim() === "") return;
    if (await sayAgain(item.id, text)) onEnd();
  };
  return (
    <form
      className="edit-form"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <textarea
        className="field"
        aria-label={words.edit}
        value={text}
        rows={3}
        // biome-ignore lint/a11y/noAutofocus: whoever asked to edit it is about to type.
        autoFocus
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === "Escape") onEnd();
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void save();
        }}
      />
      <p className="notice">{words.editNote}</p>
      <div className="edit-bar">
        <Button onClick={onEnd}>{words.cancel}</Button>
        <Button type="submit" kind="main">
          {words.sendAgain}
        </Button>
      </div>
    </form>
  );
}
