import { useEffect, useState } from "react";
import type { AgentInfo } from "../../../src/protocol/agent-routes.ts";
import { isEventType, type LogEvent } from "../../../src/protocol/events.ts";
import { useStore } from "../app/store.ts";
import { useYard } from "../app/yard.ts";
import type { OpenConversation } from "../chat/conversation.ts";
import { foldEvents } from "../chat/fold.ts";
import type { Item } from "../chat/items.ts";

const pageEvents = 1_000;
const pagesMax = 20;

export type TranscriptView = {
  readonly items: readonly Item[];
  readonly hasEarlier: boolean;
  readonly isReady: boolean;
};

/** What an agent did, from its beginning on, read from the log; the last part of it again whenever something happens. */
export function useTranscript(opened: OpenConversation, { id, seq }: AgentInfo): TranscriptView {
  const { client } = useYard();
  const { head } = useStore(opened.view);
  const [read, setRead] = useState<{
    readonly events: readonly LogEvent[];
    readonly from: number;
    readonly upTo: number;
  }>();
  useEffect(() => {
    let isWanted = true;
    const begin = Math.max(seq - 1, head - pageEvents * pagesMax, 0);
    const known = read ?? { events: [], from: begin, upTo: begin };
    if (known.upTo >= head) return undefined;
    const ask = async () => {
      // The last part was not full: it is read once more, as far as it goes now.
      const query = { after: known.upTo, limit: pageEvents, agent: id };
      const page = await client().call("readEvents", { params: { id: opened.id }, query });
      if (!isWanted || !page.ok) return;
      const events = [...known.events, ...page.value.items.filter(isKnown)];
      setRead({ events, from: known.from, upTo: page.value.next ?? Math.max(head, lastOf(events)) });
    };
    void ask();
    return () => {
      isWanted = false;
    };
  }, [client, opened, id, seq, head, read]);
  const folded = foldEvents(read?.events ?? []);
  return {
    items: folded.team.get(id)?.folded.items ?? [],
    hasEarlier: (read?.from ?? 0) > seq,
    isReady: read !== undefined,
  };
}

function lastOf(events: readonly LogEvent[]): number {
  return events.at(-1)?.seq ?? 0;
}

function isKnown(event: { readonly type: string; readonly seq: number; readonly at: number }): event is LogEvent {
  return isEventType(event.type);
}
