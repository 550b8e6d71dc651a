import { type RefObject, useEffect, useRef, useState } from "react";
import type { Conversation } from "../../../src/protocol/resources.ts";
import { Link } from "../app/link.tsx";
import type { Place } from "../app/router.ts";
import { useStore } from "../app/store.ts";
import { useYard } from "../app/yard.ts";
import { Button } from "../parts/button.tsx";
import { useWords } from "../words/words.ts";
import { ConversationMenu } from "./conversation-menu.tsx";
import { FoundList } from "./found-list.tsx";
import { groupsOf, inPlace, isUnread, titleFits } from "./groups.ts";

type RowsProps = { readonly place: Place; readonly onGone: () => void };

/** The list, by time, with what is pinned first; searched by title. */
export function ConversationRows({ place, onGone }: RowsProps) {
  const words = useWords().conversations;
  const { conversations } = useYard();
  const { items, phase, hasMore, failure } = useStore(conversations.view);
  const [query, setQuery] = useState("");
  const box = useRef<HTMLElement>(null);
  const steady = useSteady(items, box);
  const found = steady.filter((item) => titleFits(item, query));
  return (
    <>
      <div className="rail-search">
        <input
          id="search"
          type="search"
          className="field"
          placeholder={words.search}
          aria-label={words.search}
          value={query}
          onChange={(event) => setQuery(event.target.value)}
        />
      </div>
      <nav ref={box} className="rows" aria-label={words.list}>
        {phase === "failed" && (
          <p className="rows-none">
            {words.failed} {failure?.detail} <Button onClick={() => void conversations.refresh()}>{words.again}</Button>
          </p>
        )}
        {phase === "ready" && found.length === 0 && (
          <p className="rows-none">{query === "" ? words.none : words.noneFound}</p>
        )}
        {groupsOf(found).map(({ name, items: rows }) => (
          <section key={name} aria-label={words.groups[name]}>
            <h2 className="rows-group">{words.groups[name]}</h2>
            <ul>
              {rows.map((item) => (
                <ConversationRow key={item.id} item={item} place={place} onGone={onGone} />
              ))}
            </ul>
          </section>
        ))}
        {query !== "" && <FoundList query={query} onGone={onGone} />}
        {hasMore && query === "" && <Button onClick={() => void conversations.loadMore()}>{words.more}</Button>}
      </nav>
    </>
  );
}

/** While somebody is in the list with the keyboard or a menu, no row moves: one that does loses the focus and closes its menu. */
function useSteady(items: readonly Conversation[], box: RefObject<HTMLElement | null>): readonly Conversation[] {
  const standing = useRef<readonly string[]>([]);
  const isInUse = box.current?.contains(document.activeElement) === true;
  const shown = isInUse ? inPlace(items, standing.current) : items;
  useEffect(() => {
    standing.current = shown.map(({ id }) => id);
  }, [shown]);
  return shown;
}

function ConversationRow({ item, place, onGone }: RowsProps & { readonly item: Conversation }) {
  const words = useWords().conversations;
  const { id, pinned } = item;
  const isOpen = place.page === "chat" && place.conversation === id;
  const title = item.title || words.untitled;
  const isNew = !isOpen && isUnread(item);
  return (
    <li className="conversation-row" data-open={isOpen}>
      <Link
        to={{ page: "chat", conversation: id }}
        className="rail-link"
        current={isOpen}
        title={title}
        onGone={onGone}
      >
        {isNew && (
          <span className="unread">
            <span className="unseen">{words.unread}: </span>
          </span>
        )}
        <span className="row-title">{title}</span>
      </Link>
      <ConversationMenu id={id} title={title} isPinned={pinned} isOpen={isOpen} />
    </li>
  );
}
