import { lazy, Suspense, useCallback, useEffect, useState } from "react";
import { ChatPage } from "../chat/chat-page.tsx";
import { Rail } from "../conversations/rail.tsx";
import { Waiting } from "../decisions/waiting.tsx";
import { Button } from "../parts/button.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";
import { BrokenPart } from "./broken-part.tsx";
import { Keys } from "./keys.tsx";
import { Link } from "./link.tsx";
import { PageTitle } from "./page-title.tsx";
import { type Place, tasksAt, usePlace } from "./router.ts";
import { ToastList } from "./toast-list.tsx";

// The chat is loaded first; other pages when somebody goes there.
const InboxPage = lazy(async () => ({ default: (await import("../decisions/inbox-page.tsx")).InboxPage }));
const FilesPage = lazy(async () => ({ default: (await import("../files/files-page.tsx")).FilesPage }));
const FirstRunPage = lazy(async () => ({ default: (await import("../first-run/first-run-page.tsx")).FirstRunPage }));
const TasksPage = lazy(async () => ({ default: (await import("../tasks/tasks-page.tsx")).TasksPage }));
const SettingsPage = lazy(async () => ({ default: (await import("../settings/settings-page.tsx")).SettingsPage }));

const narrow = matchMedia("(max-width: 719px)");

/** Rail, page and, on phones, the bar below; each page brings its own pane. */
export function Shell() {
  const words = useWords().shell;
  const place = usePlace();
  const [isRailOpen, setRailOpen] = useState(!narrow.matches);
  const closeOnPhone = () => narrow.matches && setRailOpen(false);
  useEffect(() => {
    const follow = () => setRailOpen(!narrow.matches);
    narrow.addEventListener("change", follow);
    return () => narrow.removeEventListener("change", follow);
  }, []);
  const toggleRail = useCallback(() => setRailOpen((isOpen) => !isOpen), []);
  const showRail = useCallback(() => setRailOpen(true), []);
  return (
    <div className="shell" data-rail={isRailOpen ? "open" : "closed"} data-pane={hasPane(place) ? "open" : undefined}>
      <a className="skip" href="#place">
        {words.skip}
      </a>
      <Rail place={place} onGone={closeOnPhone} onClose={() => setRailOpen(false)} />
      <button
        type="button"
        className="scrim"
        aria-label={words.closeRail}
        tabIndex={-1}
        onClick={() => setRailOpen(false)}
      />
      <BrokenPart
        key={place.page}
        instead={() => (
          <main className="page" id="place">
            <h1>{words.failed}</h1>
            <p className="about">
              <Button onClick={() => location.reload()}>{words.reload}</Button>
            </p>
          </main>
        )}
      >
        <Suspense fallback={<main className="page" id="place" />}>
          <Page place={place} isRailOpen={isRailOpen} onToggleRail={toggleRail} />
        </Suspense>
      </BrokenPart>
      <PageBar place={place} onChats={toggleRail} />
      <ToastList />
      <Keys onToggleRail={toggleRail} onShowRail={showRail} />
      <PageTitle />
      <Waiting place={place} />
    </div>
  );
}

function hasPane(place: Place): boolean {
  if (place.page === "tasks") return place.agent !== undefined;
  return place.page === "chat" && (place.file !== undefined || place.panel !== undefined);
}

type PageProps = { readonly place: Place; readonly isRailOpen: boolean; readonly onToggleRail: () => void };

function Page({ place, isRailOpen, onToggleRail }: PageProps) {
  const words = useWords().shell;
  switch (place.page) {
    case "chat":
      return (
        <ChatPage
          conversation={place.conversation}
          file={place.file}
          spot={place.spot}
          at={place.at}
          panel={place.panel}
          isRailOpen={isRailOpen}
          onToggleRail={onToggleRail}
        />
      );
    case "inbox":
      return <InboxPage />;
    case "files":
      return <FilesPage />;
    case "tasks":
      return <TasksPage conversation={place.conversation} agent={place.agent} />;
    case "settings":
      return <SettingsPage section={place.section} />;
    case "setup":
      return <FirstRunPage />;
    case "unknown":
      return (
        <main className="page" id="place">
          <h1>{words.unknownPage}</h1>
          <p className="about">
            <Link to={{ page: "chat", conversation: undefined }}>{words.toChat}</Link>
          </p>
        </main>
      );
  }
}

function PageBar({ place, onChats }: { readonly place: Place; readonly onChats: () => void }) {
  const words = useWords().shell;
  const entries: readonly [Place, IconName, string][] = [
    [{ page: "inbox" }, "inbox", words.inbox],
    [tasksAt(place), "tasks", words.tasks],
    [{ page: "files" }, "files", words.files],
  ];
  return (
    <nav className="bar-of-pages" aria-label={words.pages}>
      <button type="button" onClick={onChats} aria-current={place.page === "chat" ? "page" : undefined}>
        <Icon name="chats" />
        {words.chats}
      </button>
      {entries.map(([to, icon, text]) => (
        <Link key={icon} to={to} current={place.page === to.page}>
          <Icon name={icon} />
          {text}
        </Link>
      ))}
    </nav>
  );
}
