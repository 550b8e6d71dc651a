import { useEffect, useState } from "react";
import type { FileDetails } from "../../../src/protocol/resources.ts";
import { useYard } from "../app/yard.ts";
import { useWords } from "../words/words.ts";

type ReceiptProps = { readonly conversation: string; readonly details: FileDetails };

/** Seconds to wait for what is still being read. */
const waitSeconds = 30;

/** What became of a file when it was read, and what of it was left out, in the server's words: nothing is dropped in silence. */
export function Receipt({ conversation, details: before }: ReceiptProps) {
  const { client } = useYard();
  const words = useWords().preview;
  const [details, setDetails] = useState(before);
  const { path, modifiedAt } = before;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a file that was changed is read anew.
  useEffect(() => {
    let isWanted = true;
    void client()
      .call("describeFile", { params: { id: conversation }, query: { path, wait: waitSeconds } })
      .then((answer) => isWanted && answer.ok && setDetails(answer.value));
    return () => {
      isWanted = false;
    };
  }, [client, conversation, path, modifiedAt]);
  const { summary, notes, indexing } = details;
  const facts = [summary, indexing === null ? "" : words.indexing[indexing.state]].filter((fact) => fact !== "");
  if (facts.length === 0 && notes.length === 0) return null;
  return (
    <footer className="receipt">
      <p>{facts.join(" · ")}</p>
      {notes.map((note) => (
        <p key={note} data-kind="loss">
          {note}
        </p>
      ))}
    </footer>
  );
}
