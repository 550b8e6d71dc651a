import { useEffect, useState } from "react";
import { go, type Place } from "../app/router.ts";
import { useYard } from "../app/yard.ts";
import { useWords } from "../words/words.ts";
import { lineOf } from "./inbox-page.tsx";
import { tell } from "./notify.ts";

/** Tells of what waits elsewhere: aloud to readers of the screen, by the browser to who has asked for it and looks away. Alt+A goes there. */
export function Waiting({ place }: { readonly place: Place }) {
  const words = useWords().decisions;
  const { inbox } = useYard();
  const [said, setSaid] = useState("");
  const shown = place.page === "chat" ? place.conversation : undefined;
  useEffect(
    () =>
      inbox.onNew((decision) => {
        const body = lineOf(decision, words.tools(decision.tool));
        // The conversation that is looked at tells of it itself.
        if (decision.conversation !== shown) setSaid(words.newWaits({ what: body.slice(0, 120) }));
        if (document.hidden) tell({ title: words.notice, body, id: decision.id, onOpen: () => go({ page: "inbox" }) });
      }),
    [inbox, words, shown],
  );
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!event.altKey || event.ctrlKey || event.metaKey || event.code !== "KeyA") return;
      event.preventDefault();
      const card = document.querySelector<HTMLElement>("[data-decision]");
      if (card === null) go({ page: "inbox" });
      else card.focus();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
  return (
    <div className="unseen" role="alert">
      {said}
    </div>
  );
}
