import { useEffect, useState } from "react";
import type { SearchedFiles } from "../../../src/protocol/resources.ts";
import { Link } from "../app/link.tsx";
import { useYard } from "../app/yard.ts";
import { placeText, spotOf } from "../preview/spot.ts";
import { Trouble } from "../preview/trouble.tsx";
import { useWords } from "../words/words.ts";

type FoundInFilesProps = { readonly conversation: string; readonly query: string };

const waitMs = 250;

/** Where the words stand in texts and documents; each place opens the file there. */
export function FoundInFiles({ conversation, query }: FoundInFilesProps) {
  const { client } = useYard();
  const { files: words, preview } = useWords();
  const [found, setFound] = useState<SearchedFiles>();
  const [trouble, setTrouble] = useState<string>();
  useEffect(() => {
    let isWanted = true;
    const timer = setTimeout(async () => {
      const answer = await client().call("searchFiles", { params: { id: conversation }, query: { query } });
      if (!isWanted) return;
      setTrouble(answer.ok ? undefined : answer.failure.detail);
      setFound(answer.ok ? answer.value : undefined);
    }, waitMs);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [client, conversation, query]);
  if (trouble !== undefined) return <Trouble detail={trouble} />;
  if (found === undefined || found.hits.length === 0) return null;
  return (
    <div className="files-folder">
      <h3>{words.hits({ count: found.total })}</h3>
      <ul>
        {found.hits.map(({ path, line, from, text, headings }) => {
          const place = from ?? { line };
          return (
            <li key={`${path} ${line} ${text}`} className="found-row">
              <Link to={{ page: "chat", conversation, file: path, spot: spotOf(place) }}>
                {path} {placeText(place, preview)}
              </Link>
              {headings !== undefined && headings.length > 0 && (
                <span className="file-note"> {headings.join(" › ")}</span>
              )}
              <p>{text.replaceAll("**", "")}</p>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
