import { useEffect, useState } from "react";
import type { FileDetails } from "../../../src/protocol/resources.ts";
import { useYard } from "../app/yard.ts";
import { useWords } from "../words/words.ts";
import { countOf } from "./counts.ts";
import { placeText } from "./spot.ts";

type ReceiptProps = { readonly conversation: string; readonly details: FileDetails };

/** Seconds to wait for what is still being read. */
const waitSeconds = 30;

/** What became of a document when it was read, and what of it was left out: nothing is dropped in silence. */
export function Receipt({ conversation, details: before }: ReceiptProps) {
  const { client } = useYard();
  const { preview: words, language } = useWords();
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
  const { receipt, indexing } = details;
  if (receipt === null && indexing === null) return null;
  const facts = [
    ...(receipt?.parts === undefined ? [] : [words.parts[receipt.parts.kind](receipt.parts.count)]),
    ...(receipt === null ? [] : [words.characters({ count: countOf(receipt.characters, language) })]),
    ...(receipt !== null && receipt.tables > 0 ? [words.tables(receipt.tables)] : []),
    ...(receipt !== null && receipt.images > 0 ? [words.images(receipt.images)] : []),
    ...(indexing === null ? [] : [words.indexing[indexing.state]]),
  ];
  return (
    <footer className="receipt">
      <p>{facts.join(" · ")}</p>
      {(receipt?.losses ?? []).map(({ kind, count, places }) => (
        <p key={kind} data-kind="loss">
          {words.losses[kind]?.(count) ?? words.otherLoss({ kind, count })}
          {places.length > 0 &&
            ` (${places
              .slice(0, 5)
              .map((place) => placeText(place, words))
              .join(", ")})`}
        </p>
      ))}
      {receipt?.stopped !== undefined && <p data-kind="loss">{words.cut}</p>}
    </footer>
  );
}
