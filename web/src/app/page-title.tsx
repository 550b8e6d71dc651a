import { useEffect } from "react";
import { isUnread } from "../conversations/groups.ts";
import { useWords } from "../words/words.ts";
import { usePlace } from "./router.ts";
import { useStore } from "./store.ts";
import { useYard } from "./yard.ts";

/** The title of the tab: what is shown, and before it how much waits or is new elsewhere. */
export function PageTitle() {
  const { shell, conversations: words } = useWords();
  const { conversations, inbox } = useYard();
  const place = usePlace();
  const { items } = useStore(conversations.view);
  const decisions = useStore(inbox.view).items;
  const open = place.page === "chat" ? place.conversation : undefined;
  const shown = items.find(({ id }) => id === open);
  const fresh = items.filter((item) => item.id !== open && isUnread(item));
  const asked = new Set([...decisions.map(({ conversation }) => conversation), ...fresh.map(({ id }) => id)]).size;
  const names: Readonly<Record<string, string>> = {
    inbox: shell.inbox,
    tasks: shell.tasks,
    files: shell.files,
    settings: shell.settings,
  };
  const name = open === undefined ? (names[place.page] ?? "") : shown?.title || words.untitled;
  useEffect(() => {
    document.title = `${asked > 0 ? `(${asked}) ` : ""}${name === "" ? "" : `${name} · `}AgentYard`;
  }, [asked, name]);
  return null;
}
