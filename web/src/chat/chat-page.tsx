import { useEffect, useState } from "react";
import { go } from "../app/router.ts";
import { useStore } from "../app/store.ts";
import { useYard } from "../app/yard.ts";
import { FilesPanel } from "../files/files-panel.tsx";
import { IconButton } from "../parts/button.tsx";
import { useWords } from "../words/words.ts";
import { type Outgoing, sendFirst, useActions } from "./actions.ts";
import { Announcer } from "./announcer.tsx";
import { ChatHead } from "./chat-head.tsx";
import { Composer, putIntoComposer } from "./composer.tsx";
import { ConnectionBanner } from "./connection-banner.tsx";
import { OpenConversation } from "./conversation.ts";
import { Greeting } from "./greeting.tsx";
import { QueueList } from "./queue-list.tsx";
import { Thread } from "./thread.tsx";
import { TodoList } from "./todo-list.tsx";

type ChatPageProps = {
  readonly conversation: string | undefined;
  readonly file: string | undefined;
  readonly isRailOpen: boolean;
  readonly onToggleRail: () => void;
};

export function ChatPage({ conversation: id, file, isRailOpen, onToggleRail }: ChatPageProps) {
  const words = useWords();
  const opened = useConversation(id);
  return (
    <>
      <main className="place chat" id="place">
        <header className="chat-head">
          {!isRailOpen && <IconButton icon="rail" label={words.shell.openRail} onClick={onToggleRail} />}
          {opened === undefined ? <h1 className="chat-title">{words.shell.newChat}</h1> : <ChatHead opened={opened} />}
        </header>
        {id === undefined ? <NewChat /> : opened !== undefined && <OpenChat key={id} opened={opened} />}
      </main>
      {id !== undefined && file !== undefined && (
        <aside className="pane">
          <div className="pane-head">
            <IconButton icon="close" label={words.shell.close} onClick={() => go({ page: "chat", conversation: id })} />
          </div>
          <FilesPanel conversation={id} file={file} />
        </aside>
      )}
    </>
  );
}

function NewChat() {
  const yard = useYard();
  return (
    <>
      <Greeting onChoose={(text) => putIntoComposer(text, "replace")} />
      <Composer
        name="new"
        opened={undefined}
        onSend={(message) => sendFirst(yard, message)}
        onStop={() => {}}
        onTakeBack={() => {}}
      />
    </>
  );
}

function OpenChat({ opened }: { readonly opened: OpenConversation }) {
  const { phase, queue, run, todos, lostAt } = useStore(opened.view);
  const { send, stop, withdraw } = useActions(opened);
  useStopKey(run !== undefined, () => void stop());
  useSeen(opened);
  const takeBack = async () => {
    const last = queue.at(-1);
    if (last !== undefined && last.item.seq > 0 && (await withdraw(last.item.id)))
      putIntoComposer(last.item.text, "replace");
  };
  const isGone = phase === "failed" || phase === "deleted";
  return (
    <>
      <ConnectionBanner lostAt={lostAt} />
      <Thread opened={opened} />
      <Announcer opened={opened} />
      <div className="above-composer">
        <TodoList todos={todos} />
        <QueueList opened={opened} queue={run === undefined ? queue.slice(1) : queue} />
      </div>
      {!isGone && (
        <Composer
          name={opened.id}
          opened={opened}
          onSend={(message: Outgoing) => send(message)}
          onStop={() => void stop()}
          onTakeBack={() => void takeBack()}
        />
      )}
    </>
  );
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

/** What was looked at is no longer new; the list has its title as soon as it has one. */
function useSeen(opened: OpenConversation): void {
  const { conversations } = useYard();
  const { head, title, run } = useStore(opened.view);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what came is looked at, and so is the end of a turn.
  useEffect(() => {
    if (document.hidden) return;
    conversations.see(opened.id, Date.now());
  }, [head, opened, conversations]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a title or the end of a turn changes the list.
  useEffect(() => {
    void conversations.refresh();
  }, [title, run === undefined]);
}

/** Escape stops what runs, unless something lies over the page that it closes. */
function useStopKey(isRunning: boolean, stop: () => void): void {
  useEffect(() => {
    if (!isRunning) return;
    const listen = (event: KeyboardEvent) => {
      const hasLayer = document.querySelector("dialog[open], [popover]:popover-open") !== null;
      const isTyping = event.target instanceof HTMLElement && event.target.closest(".edit-form") !== null;
      if (event.key === "Escape" && !event.isComposing && !event.defaultPrevented && !hasLayer && !isTyping) stop();
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, [isRunning, stop]);
}
