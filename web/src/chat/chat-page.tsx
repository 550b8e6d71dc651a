import { useEffect, useState } from "react";
import { go } from "../app/router.ts";
import { useStore } from "../app/store.ts";
import { useYard } from "../app/yard.ts";
import { FilesPanel } from "../files/files-panel.tsx";
import { IconButton } from "../parts/button.tsx";
import { useWords } from "../words/words.ts";
import { Composer } from "./composer.tsx";
import { OpenConversation } from "./conversation.ts";
import { Thread } from "./thread.tsx";

type ChatPageProps = {
  readonly conversation: string | undefined;
  readonly file: string | undefined;
  readonly isRailOpen: boolean;
  readonly onToggleRail: () => void;
};

export function ChatPage({ conversation: id, file, isRailOpen, onToggleRail }: ChatPageProps) {
  const words = useWords();
  const opened = useConversation(id);
  const { sendFirst, send } = useSending(opened);
  return (
    <>
      <main className="place chat" id="place">
        <header className="chat-head">
          {!isRailOpen && <IconButton icon="rail" label={words.shell.openRail} onClick={onToggleRail} />}
          {opened === undefined ? <h1 className="unseen">{words.chat.heading}</h1> : <Title opened={opened} />}
        </header>
        {opened === undefined ? (
          <p className="greeting">{words.chat.greeting}</p>
        ) : (
          <Thread key={opened.id} opened={opened} />
        )}
        <Composer key={id ?? "new"} name={id ?? "new"} onSend={opened === undefined ? sendFirst : send} />
      </main>
      {id !== undefined && file !== undefined && (
        <aside className="pane">
          <FilesPanel conversation={id} file={file} />
        </aside>
      )}
    </>
  );
}

function Title({ opened }: { readonly opened: OpenConversation }) {
  const { title } = useStore(opened.view);
  const words = useWords();
  return <h1 className="chat-title">{title || words.conversations.untitled}</h1>;
}

/** The conversation of the address, followed as long as it is shown. */
function useConversation(id: string | undefined): OpenConversation | undefined {
  const { client } = useYard();
  const [opened, setOpened] = useState<OpenConversation>();
  useEffect(() => {
    if (id === undefined) return setOpened(undefined);
    const made = new OpenConversation(id, client);
    setOpened(made);
    return () => made.close();
  }, [id, client]);
  return opened?.id === id ? opened : undefined;
}

function useSending(opened: OpenConversation | undefined) {
  const { client, conversations, toasts } = useYard();
  const send = async (text: string): Promise<boolean> => {
    if (opened === undefined) return false;
    const sent = await client().call("sendMessage", {
      params: { id: opened.id },
      body: { id: crypto.randomUUID(), text },
    });
    if (!sent.ok) toasts.tell({ kind: "trouble", text: sent.failure.detail });
    return sent.ok;
  };
  const sendFirst = async (text: string): Promise<boolean> => {
    const made = await client().call("createConversation", { body: {} });
    const sent = made.ok
      ? await client().call("sendMessage", { params: { id: made.value.id }, body: { id: crypto.randomUUID(), text } })
      : made;
    if (!sent.ok) toasts.tell({ kind: "trouble", text: sent.failure.detail });
    if (!sent.ok || !made.ok) return false;
    go({ page: "chat", conversation: made.value.id });
    void conversations.refresh();
    return true;
  };
  return { send, sendFirst };
}
