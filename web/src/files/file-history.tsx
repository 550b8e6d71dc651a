import { useEffect, useState } from "react";
import type { FileVersion } from "../../../src/protocol/file-view-routes.ts";
import { bytesText, fullTimeText, timeText } from "../app/format.ts";
import { useYard } from "../app/yard.ts";
import { Button } from "../parts/button.tsx";
import { Trouble } from "../preview/trouble.tsx";
import { useWords } from "../words/words.ts";
import { shownName } from "./file-names.ts";

type FileHistoryProps = { readonly conversation: string; readonly path: string; readonly changes: number };

/** What became of a file, turn by turn, and the way back. */
export function FileHistory({ conversation, path, changes }: FileHistoryProps) {
  const { client, toasts } = useYard();
  const { files: words, language } = useWords();
  const [versions, setVersions] = useState<readonly FileVersion[]>();
  const [trouble, setTrouble] = useState<string>();
  const [again, setAgain] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of a file asks anew.
  useEffect(() => {
    let isWanted = true;
    void client()
      .call("listFileHistory", { params: { id: conversation }, query: { path } })
      .then((answer) => {
        if (!isWanted) return;
        setTrouble(answer.ok ? undefined : answer.failure.detail);
        if (answer.ok) setVersions(answer.value.items);
      });
    return () => {
      isWanted = false;
    };
  }, [client, conversation, path, changes, again]);
  const restore = async (seq: number) => {
    const done = await client().call("restoreFile", { params: { id: conversation }, body: { path, seq } });
    const text = done.ok ? words.restored({ name: shownName(path) }) : done.failure.detail;
    toasts.tell({ kind: done.ok ? "news" : "trouble", text });
    setAgain((count) => count + 1);
  };
  if (trouble !== undefined) return <Trouble detail={trouble} onRetry={() => setAgain((count) => count + 1)} />;
  if (versions === undefined) return null;
  if (versions.length === 0) return <p className="about">{words.noHistory}</p>;
  return (
    <ol className="history" aria-label={words.history}>
      {versions.map(({ seq, at, change, bytes, by, turn, agent, program, canRestore }, index) => (
        <li key={seq}>
          <span className="history-what">
            {words.changes[change]}
            {bytes !== null && ` · ${bytesText(bytes, language)}`}
          </span>
          <span className="file-note">
            {turn === null ? words.betweenTurns : words.turn({ turn })} ·{" "}
            {agent ?? words.by[program === true ? "program" : by]}
            {" · "}
            <time title={fullTimeText(at, language)}>{timeText(at, language)}</time>
          </span>
          {index === 0 && change !== "removed" ? (
            <span className="file-note">{words.present}</span>
          ) : (
            canRestore && <Button onClick={() => void restore(seq)}>{words.restore}</Button>
          )}
        </li>
      ))}
    </ol>
  );
}
