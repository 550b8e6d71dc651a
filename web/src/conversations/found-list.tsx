import { useEffect, useState } from "react";
import type { SearchAnswer } from "../../../src/protocol/search-routes.ts";
import { Link } from "../app/link.tsx";
import { useYard } from "../app/yard.ts";
import { Icon } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";

type FoundListProps = { readonly query: string; readonly onGone: () => void };
type Hit = SearchAnswer["items"][number];

const waitMs = 250;
const hitsMax = 30;

/** What stands in messages and files of all conversations: asked for when somebody stops typing for a moment. */
export function FoundList({ query, onGone }: FoundListProps) {
  const words = useWords().conversations;
  const { client } = useYard();
  const [found, setFound] = useState<SearchAnswer | undefined>();
  const [trouble, setTrouble] = useState("");
  const wanted = query.trim();
  useEffect(() => {
    setFound(undefined);
    setTrouble("");
    if (wanted.length < 2) return;
    let isWanted = true;
    const timer = setTimeout(async () => {
      const answer = await client().call("search", { query: { q: wanted, limit: hitsMax } });
      if (!isWanted) return;
      if (answer.ok) setFound(answer.value);
      else setTrouble(answer.failure.detail);
    }, waitMs);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [wanted, client]);
  if (trouble !== "") return <p className="rows-none">{trouble}</p>;
  if (found === undefined) return null;
  return (
    <section aria-label={words.inTexts}>
      <h2 className="rows-group">{words.inTexts}</h2>
      {found.items.length === 0 && <p className="rows-none">{words.nothingInTexts}</p>}
      <ul>
        {found.items.map((hit) => (
          <FoundRow key={`${hit.conversation.id}/${hit.path ?? hit.seq}/${hit.snippet}`} hit={hit} onGone={onGone} />
        ))}
      </ul>
      {found.conversationsBehind > 0 && <p className="rows-none">{words.behind}</p>}
    </section>
  );
}

function FoundRow({ hit, onGone }: { readonly hit: Hit; readonly onGone: () => void }) {
  const words = useWords().conversations;
  const { conversation, kind, path, seq, snippet } = hit;
  return (
    <li>
      <Link
        to={{ page: "chat", conversation: conversation.id, ...(kind === "file" ? { file: path } : { at: seq }) }}
        className="found"
        onGone={onGone}
      >
        <span className="found-head">
          <Icon name={kind === "file" ? "files" : "chats"} size={16} />
          <span className="row-title">{path ?? (conversation.title || words.untitled)}</span>
        </span>
        <span className="found-text">{marked(snippet)}</span>
      </Link>
    </li>
  );
}

/** The server puts `**` around what was found; all else is text. */
function marked(snippet: string) {
  return snippet
    .split("**")
    .map((part, at) => ({ part, key: `${at}${part}` }))
    .map(({ part, key }, at) => (at % 2 === 1 ? <mark key={key}>{part}</mark> : <span key={key}>{part}</span>));
}
