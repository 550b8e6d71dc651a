import { Link } from "../app/link.tsx";
import type { Place } from "../app/router.ts";
import { useStore } from "../app/store.ts";
import { useYard } from "../app/yard.ts";
import { useWords } from "../words/words.ts";

type RowsProps = { readonly place: Place; readonly onGone: () => void };

export function ConversationRows({ place, onGone }: RowsProps) {
  const words = useWords().conversations;
  const { items, phase } = useStore(useYard().conversations.view);
  const open = place.page === "chat" ? place.conversation : undefined;
  return (
    <nav className="rows" aria-label={words.list}>
      {phase === "ready" && items.length === 0 && <p className="rows-none">{words.none}</p>}
      <ul>
        {items.map(({ id, title }) => (
          <li key={id}>
            <Link to={{ page: "chat", conversation: id }} className="rail-link" current={id === open} onGone={onGone}>
              <span className="row-title">{title || words.untitled}</span>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
