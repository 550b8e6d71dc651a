import type { Client } from "../../src/client/client.ts";
import { must } from "../must.ts";
import type { Ledger } from "./person.ts";

/** Messages that were acknowledged and are not in the log exactly once, and turns that did not end. */
export async function lostIn({ kept }: Ledger): Promise<string[]> {
  const lost: string[] = [];
  for (const [id, { client, messages }] of kept) {
    const events = await readLog(client, id);
    const said = events.flatMap((event) => (event.type === "message.user" ? [event.id] : []));
    for (const message of messages) {
      const times = said.filter((each) => each === message).length;
      if (times !== 1) lost.push(`message ${message} of ${id} is there ${times} times`);
    }
    const begun = events.filter(({ type }) => type === "turn.started").length;
    const ended = events.filter(({ type }) => type === "turn.finished").length;
    if (begun !== ended) lost.push(`${begun} turns of ${id} began, and ${ended} ended`);
  }
  return lost;
}

type Stored = { readonly type: string; readonly id?: unknown };

async function readLog(client: Client, id: string): Promise<Stored[]> {
  const events: Stored[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const page: { readonly items: readonly Stored[]; readonly next: number | null } = must(
      await client.call("readEvents", { params: { id }, query: { after, limit: 1000 } }),
    );
    events.push(...page.items);
    after = page.next;
  }
  return events;
}
