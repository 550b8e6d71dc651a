import { Link } from "../app/link.tsx";
import { type Place, tasksAt } from "../app/router.ts";
import { useStore } from "../app/store.ts";
import { useYard } from "../app/yard.ts";
import { IconButton } from "../parts/button.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";
import { ConversationRows } from "./conversation-rows.tsx";

type RailProps = {
  readonly place: Place;
  /** Somebody went somewhere. */
  readonly onGone: () => void;
  readonly onClose: () => void;
};

export function Rail({ place, onGone, onClose }: RailProps) {
  const { shell } = useWords();
  const waiting = useStore(useYard().inbox.view).items.length;
  const pages: readonly [Place, IconName, string][] = [
    [{ page: "inbox" }, "inbox", shell.inbox],
    [tasksAt(place), "tasks", shell.tasks],
    [{ page: "files" }, "files", shell.files],
  ];
  return (
    <aside className="rail" aria-label={shell.chats}>
      <div className="rail-top">
        <strong>AgentYard</strong>
        <IconButton icon="rail" label={shell.closeRail} onClick={onClose} />
      </div>
      <nav className="rail-pages" aria-label={shell.pages}>
        <Link to={{ page: "chat", conversation: undefined }} className="rail-link" onGone={onGone}>
          <Icon name="plus" />
          {shell.newChat}
        </Link>
        {pages.map(([to, icon, text]) => (
          <Link key={icon} to={to} className="rail-link" current={place.page === to.page} onGone={onGone}>
            <Icon name={icon} />
            {text}
            {icon === "inbox" && waiting > 0 && (
              <span className="badge">
                {waiting}
                <span className="unseen"> {shell.waiting({ count: waiting })}</span>
              </span>
            )}
          </Link>
        ))}
      </nav>
      <ConversationRows place={place} onGone={onGone} />
      <RailFoot onGone={onGone} />
    </aside>
  );
}

function RailFoot({ onGone }: { readonly onGone: () => void }) {
  const { settings } = useYard();
  const words = useWords().shell;
  const { theme, language } = useStore(settings);
  const isDark = (theme ?? document.documentElement.dataset.theme) === "dark";
  return (
    <div className="rail-foot">
      <Link to={{ page: "settings", section: undefined }} className="rail-link" onGone={onGone}>
        <Icon name="settings" />
        {words.settings}
      </Link>
      <IconButton
        icon={isDark ? "sun" : "moon"}
        label={isDark ? words.theme.light : words.theme.dark}
        onClick={() => settings.change({ theme: isDark ? "light" : "dark" })}
      />
      <button
        type="button"
        className="icon-button"
        lang={language === "zh" ? "en" : "zh-CN"}
        onClick={() => settings.change({ chosenLanguage: language === "zh" ? "en" : "zh" })}
      >
        {words.otherLanguage}
      </button>
    </div>
  );
}
