import { useEffect, useState } from "react";
import { flushSync } from "react-dom";
import { Dialog } from "../parts/dialog.tsx";
import { useWords } from "../words/words.ts";
import { go } from "./router.ts";
import { useStore } from "./store.ts";
import { useYard } from "./yard.ts";

type KeysProps = { readonly onToggleRail: () => void; readonly onShowRail: () => void };

/** Shortcuts of the whole page, and the list of them. Single letters count only where nobody types, and can be turned off. */
export function Keys({ onToggleRail, onShowRail }: KeysProps) {
  const { settings } = useYard();
  const { lacksKeys } = useStore(settings);
  const [isListed, setListed] = useState(false);
  useEffect(() => {
    let hasGo = false;
    const listen = (event: KeyboardEvent) => {
      if (event.isComposing || event.defaultPrevented) return;
      const isCommand = event.ctrlKey || event.metaKey;
      if (isCommand && !event.shiftKey && !event.altKey) {
        if (event.key === "k") return take(event, () => search(onShowRail));
        if (event.key === "b") return take(event, onToggleRail);
      }
      if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown"))
        return take(event, () => toMessage(event.key === "ArrowUp" ? -1 : 1));
      if (isCommand || event.altKey || lacksKeys || isTyping(event.target)) return;
      const isAfterGo = hasGo;
      hasGo = event.key === "g" && !isAfterGo;
      const place = isAfterGo ? places[event.key] : undefined;
      if (place !== undefined) return take(event, () => go(place));
      const action = isAfterGo ? undefined : letters[event.key];
      if (event.key === "?") return take(event, () => setListed(true));
      if (action !== undefined) take(event, action);
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, [lacksKeys, onToggleRail, onShowRail]);
  return isListed ? <KeyList onClose={() => setListed(false)} /> : null;
}

const places = {
  i: { page: "inbox" },
  t: { page: "tasks", conversation: undefined },
  f: { page: "files" },
  s: { page: "settings", section: undefined },
} as Readonly<Record<string, Parameters<typeof go>[0]>>;

const letters: Readonly<Record<string, () => void>> = {
  n: () => go({ page: "chat", conversation: undefined }),
  "/": () => document.getElementById("composer")?.focus(),
};

function take(event: KeyboardEvent, action: () => void): void {
  event.preventDefault();
  action();
}

function search(onShowRail: () => void): void {
  // At once: what is typed next is searched for, and not said to an agent.
  flushSync(onShowRail);
  document.getElementById("search")?.focus();
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** From message to message. The list is virtual: what is not drawn yet comes when one gets near it. */
function toMessage(step: 1 | -1): void {
  const articles = [...document.querySelectorAll<HTMLElement>(".message-list article")];
  const at = articles.findIndex((article) => article.contains(document.activeElement));
  const next = articles[at < 0 ? (step < 0 ? articles.length - 1 : 0) : at + step];
  if (next === undefined) return;
  next.tabIndex = -1;
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

function KeyList({ onClose }: { readonly onClose: () => void }) {
  const { shell } = useWords();
  const { settings } = useYard();
  const { lacksKeys } = useStore(settings);
  return (
    <Dialog title={shell.keys.title} onClose={onClose}>
      <dl className="keys">
        {shell.keys.list.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <label className="choice">
        <input
          type="checkbox"
          checked={!lacksKeys}
          onChange={(event) => settings.change({ lacksKeys: !event.target.checked })}
        />
        {shell.keys.letters}
      </label>
    </Dialog>
  );
}
