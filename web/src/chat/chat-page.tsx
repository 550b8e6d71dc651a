import { lazy, Suspense, useEffect } from "react";
import { Link } from "../app/link.tsx";
import { go } from "../app/router.ts";
import { createStore, useStore } from "../app/store.ts";
import { useYard } from "../app/yard.ts";
import { useAttached } from "../files/attached.tsx";
import { DropZone } from "../files/drop-zone.tsx";
import { FilesButton } from "../files/files-button.tsx";
import { Welcome } from "../first-run/welcome.tsx";
import { FilesOf } from "../markdown/files-of.ts";
import { IconButton } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { TimelinePanel } from "../timeline/timeline-panel.tsx";
import { useWords } from "../words/words.ts";
import { type Outgoing, sendFirst, useActions } from "./actions.ts";
import { Announcer } from "./announcer.tsx";
import { ChatHead } from "./chat-head.tsx";
import { Composer, putIntoComposer } from "./composer.tsx";
import { ConnectionBanner } from "./connection-banner.tsx";
import type { OpenConversation } from "./conversation.ts";
import { MessageList } from "./message-list.tsx";
import { QueueList } from "./queue-list.tsx";
import { TodoList } from "./todo-list.tsx";
import { useConversation } from "./use-conversation.ts";

/** What is in files is drawn by much: it is loaded when somebody looks at them. */
const FilesPanel = lazy(async () => ({ default: (await import("../files/files-panel.tsx")).FilesPanel }));

type ChatPageProps = {
  readonly conversation: string | undefined;
  readonly file: string | undefined;
  readonly spot: string | undefined;
  readonly at: number | undefined;
  readonly panel: "timeline" | undefined;
  readonly isRailOpen: boolean;
  readonly onToggleRail: () => void;
};

export function ChatPage({ conversation: id, file, spot, at, panel, isRailOpen, onToggleRail }: ChatPageProps) {
  const words = useWords();
  const opened = useConversation(id);
  return (
    <>
      <main className="place chat" id="place">
        <header className="chat-head">
          {!isRailOpen && <IconButton icon="rail" label={words.shell.openRail} onClick={onToggleRail} />}
          {opened === undefined ? <h1 className="chat-title">{words.shell.newChat}</h1> : <ChatHead opened={opened} />}
          {id !== undefined && <FilesButton conversation={id} isOpen={file !== undefined} />}
          {opened !== undefined && <TasksLink opened={opened} />}
          {id !== undefined && <TimelineButton conversation={id} isOpen={panel === "timeline"} />}
        </header>
        {id === undefined ? <NewChat /> : opened !== undefined && <OpenChat key={id} opened={opened} at={at} />}
      </main>
      {id !== undefined && file !== undefined && (
        <aside className="pane">
          <div className="pane-head">
            <IconButton icon="close" label={words.shell.close} onClick={() => go({ page: "chat", conversation: id })} />
          </div>
          <ConversationFilesPanel conversation={id} opened={opened} file={file} spot={spot} />
        </aside>
      )}
      {opened !== undefined && panel === "timeline" && <TimelinePane opened={opened} />}
    </>
  );
}

/** Only where others than the main agent have worked. */
function TasksLink({ opened }: { readonly opened: OpenConversation }) {
  const words = useWords().team;
  const { team } = useStore(opened.view);
  if (team.size === 0) return null;
  return (
    <Link
      className="icon-button"
      to={{ page: "tasks", conversation: opened.id }}
      title={words.title}
      label={words.title}
    >
      <Icon name="tasks" />
    </Link>
  );
}

function TimelineButton({ conversation, isOpen }: { readonly conversation: string; readonly isOpen: boolean }) {
  const words = useWords().timeline;
  const panel = isOpen ? undefined : "timeline";
  const toggle = () => go({ page: "chat", conversation, panel });
  return <IconButton icon="clock" label={words.open} isPressed={isOpen} onClick={toggle} />;
}

function TimelinePane({ opened }: { readonly opened: OpenConversation }) {
  const { head } = useStore(opened.view);
  const close = () => go({ page: "chat", conversation: opened.id });
  return (
    <aside className="pane">
      <TimelinePanel conversation={opened.id} head={head} onClose={close} />
    </aside>
  );
}

type PanelProps = {
  readonly conversation: string;
  readonly opened: OpenConversation | undefined;
  readonly file: string;
  readonly spot: string | undefined;
};

/** Files appear as agents make them. */
function ConversationFilesPanel({ opened, ...panel }: PanelProps) {
  const changes = useStore(opened?.filesChanged ?? noChanges);
  return (
    <Suspense fallback={null}>
      <FilesPanel {...panel} changes={changes} />
    </Suspense>
  );
}

const noChanges = createStore(0);

function NewChat() {
  const yard = useYard();
  const attached = useAttached(undefined);
  return (
    <>
      <DropZone onFiles={attached.take} />
      <Welcome />
      <Composer
        name="new"
        opened={undefined}
        attached={attached}
        onSend={(message) => sendFirst(yard, message)}
        onStop={() => {}}
        onWithdraw={() => {}}
      />
    </>
  );
}

type OpenChatProps = { readonly opened: OpenConversation; readonly at: number | undefined };

function OpenChat({ opened, at }: OpenChatProps) {
  const { phase, queue, run, todos, lostAt } = useStore(opened.view);
  const { send, stop, withdraw } = useActions(opened);
  const attached = useAttached(opened.id);
  useStopKey(run !== undefined, () => void stop());
  useSeen(opened);
  const withdrawLast = async () => {
    const last = queue.at(-1);
    if (last !== undefined && last.item.seq > 0 && (await withdraw(last.item.id)))
      putIntoComposer(last.item.text, "replace");
  };
  const isGone = phase === "failed" || phase === "deleted";
  return (
    <>
      <ConnectionBanner lostAt={lostAt} />
      <DropZone onFiles={attached.take} />
      <FilesOf value={opened.id}>
        <MessageList opened={opened} at={at} />
      </FilesOf>
      <Announcer opened={opened} />
      <div className="above-composer">
        <TodoList todos={todos} />
        <QueueList opened={opened} queue={run === undefined ? queue.slice(1) : queue} />
      </div>
      {!isGone && (
        <Composer
          name={opened.id}
          opened={opened}
          attached={attached}
          onSend={(message: Outgoing) => send(message)}
          onStop={() => void stop()}
          onWithdraw={() => void withdrawLast()}
        />
      )}
    </>
  );
}

/** What was looked at is no longer new; the list has its title as soon as it has one. */
function useSeen(opened: OpenConversation): void {
  const { conversations } = useYard();
  const { title, run } = useStore(opened.view);
  const updatedAt = useStore(conversations.view).items.find(({ id }) => id === opened.id)?.updatedAt;
  useEffect(() => {
    const look = () => {
      if (!document.hidden && updatedAt !== undefined) conversations.see(opened.id);
    };
    look();
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [updatedAt, opened, conversations]);
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
