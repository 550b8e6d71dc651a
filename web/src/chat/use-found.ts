import { type RefObject, useEffect, useRef, useState } from "react";
import type { VListHandle } from "virtua";
import type { OpenConversation } from "./conversation.ts";
import type { Row } from "./rows.ts";

const lookMs = 150;
const looksMax = 40;

type Wanted = {
  readonly opened: OpenConversation;
  /** The place in the log that is looked for. */
  readonly at: number | undefined;
  readonly rows: readonly (Row | { readonly kind: "older" | "live"; readonly key: string })[];
  readonly list: RefObject<VListHandle | null>;
  /** Whoever looks for a place does not follow the end. */
  readonly onGone: () => void;
};

/** Goes to a place of the conversation, once, when it has been read; answers the key of the row that stands there. */
export function useFound({ opened, at, rows, list, onGone }: Wanted): string | undefined {
  const [found, setFound] = useState<{ readonly at: number; readonly key: string }>();
  const [read, setRead] = useState<number>();
  useEffect(() => {
    let isWanted = true;
    if (at !== undefined) void opened.loadBackTo(at).then(() => isWanted && setRead(at));
    return () => {
      isWanted = false;
    };
  }, [opened, at]);
  useEffect(() => {
    if (at === undefined || read !== at || found?.at === at) return;
    const index = indexOf(rows, at);
    const row = rows[index];
    if (row === undefined) return;
    onGone();
    list.current?.scrollToIndex(index, { align: "center" });
    setFound({ at, key: row.key });
  }, [at, read, found, rows, list, onGone]);
  const now = useRef(rows);
  useEffect(() => {
    now.current = rows;
  });
  // Rows that have just come in before it are not measured yet, and the list may end up elsewhere: it is shown the way again.
  useEffect(() => {
    if (found === undefined || found.at !== at) return;
    let looks = 0;
    const timer = setInterval(() => {
      looks += 1;
      if (looks === looksMax || document.querySelector("[data-found=true]") !== null) return clearInterval(timer);
      onGone();
      list.current?.scrollToIndex(
        now.current.findIndex(({ key }) => key === found.key),
        { align: "center" },
      );
    }, lookMs);
    return () => clearInterval(timer);
  }, [found, at, list, onGone]);
  return found?.at === at ? found?.key : undefined;
}

/** The row of that event, else the nearest one before it: what another agent said stands below its call. */
function indexOf(rows: Wanted["rows"], at: number): number {
  const exact = rows.findIndex((row) => seqOf(row) === at);
  return exact >= 0 ? exact : rows.findLastIndex((row) => (seqOf(row) ?? at + 1) <= at);
}

function seqOf(row: Wanted["rows"][number]): number | undefined {
  if (row.kind === "item") return row.item.seq;
  return row.kind === "calls" ? row.calls[0]?.seq : undefined;
}
