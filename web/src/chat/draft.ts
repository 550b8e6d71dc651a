import { useEffect, useState } from "react";
import { z } from "zod";
import { keep, readKeptJson } from "../app/kept.ts";
import { newId } from "../app/new-id.ts";

/**
 * What was typed and not sent yet, with the id under which it will be: sent twice, it is still said once. Each text has an
 * id of its own, and so has it with other files: where the answer was lost the server may have the id already, and would
 * take other words for the same. `files`: those that it was sent with before.
 */
export type Draft = { readonly id: string; readonly text: string; readonly files?: readonly string[] | undefined };

const Kept = z.object({ id: z.string(), text: z.string(), files: z.array(z.string()).optional() });

export type DraftOf = {
  readonly draft: Draft;
  readonly change: (text: string) => void;
  /** Shows an empty composer, and keeps the text until `settle` says what became of it. */
  readonly begin: (files: readonly string[]) => Draft;
  readonly settle: (sent: Draft, isSent: boolean) => void;
};

/** Typed text survives a reload, a crash and a server that is away. Another tab that shows the same has the same text. */
export function useDraft(name: string): DraftOf {
  const place = `draft.${name}`;
  const [draft, setDraft] = useState(() => readDraft(place));
  useEffect(() => {
    const follow = ({ key }: StorageEvent) => {
      if (key === `agentyard.${place}`) setDraft(readDraft(place));
    };
    addEventListener("storage", follow);
    return () => removeEventListener("storage", follow);
  }, [place]);
  const store = (next: Draft) => {
    setDraft(next);
    keep(place, next.text === "" ? undefined : JSON.stringify(next));
  };
  return {
    draft,
    change: (text) => store(newDraft(text)),
    begin(files) {
      const isOther = draft.files !== undefined && draft.files.join("\n") !== files.join("\n");
      const sent = { ...(isOther ? newDraft(draft.text) : draft), files };
      if (isOther) keep(place, JSON.stringify(sent));
      setDraft(newDraft());
      return sent;
    },
    settle(sent, isSent) {
      const now = readDraft(place);
      if (isSent) {
        if (now.id === sent.id) keep(place, undefined);
        return;
      }
      // What was typed since stands behind it.
      setDraft((typed) => {
        const back = typed.text === "" ? sent : newDraft(`${sent.text}\n${typed.text}`);
        keep(place, JSON.stringify(back));
        return back;
      });
    },
  };
}

function readDraft(place: string): Draft {
  return Kept.safeParse(readKeptJson(place)).data ?? newDraft();
}

function newDraft(text = ""): Draft {
  return { id: newId(), text };
}
