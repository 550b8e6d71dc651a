import { ok, type Result } from "../base/result.ts";
import type { Client, ClientFailure } from "../client/client.ts";
import type { LogEvent } from "../protocol/events.ts";
import { isEventType } from "../protocol/events.ts";
import { saidText } from "./own-words.ts";

/** How far back a loaded conversation is looked at. */
const recentEventsMax = 200;

/** The last events before a place in the log. */
export async function readRecent(client: Client, id: string, head: number): Promise<readonly LogEvent[]> {
  const after = Math.max(0, head - recentEventsMax);
  const page = await client.call("readEvents", { params: { id }, query: { after, limit: recentEventsMax } });
  return page.ok ? page.value.items.filter(isLogEvent) : [];
}

const pageEventsMax = 1_000;

/** The whole log of a conversation from a place on. */
export async function readAll(
  client: Client,
  id: string,
  after = 0,
): Promise<Result<readonly LogEvent[], ClientFailure>> {
  const page = await client.call("readEvents", { params: { id }, query: { after, limit: pageEventsMax } });
  if (!page.ok) return page;
  const events = page.value.items.filter(isLogEvent);
  if (page.value.next === null) return ok(events);
  const rest = await readAll(client, id, page.value.next);
  return rest.ok ? ok([...events, ...rest.value]) : rest;
}

export type Said = { readonly who: "person" | "agent"; readonly text: string };

/** What was said last, oldest first; what the person went back behind is left out. */
export function lastSaid(events: readonly LogEvent[], countMax: number): readonly Said[] {
  let said: (Said & { seq: number })[] = [];
  for (const event of events) {
    if (event.type === "message.user") said.push({ who: "person", text: saidText(event.text), seq: event.seq });
    if (event.type === "message.assistant" && event.agent === undefined && event.text !== "")
      said.push({ who: "agent", text: event.text, seq: event.seq });
    if (event.type === "rewound") said = said.filter(({ seq }) => seq <= event.to);
  }
  return said.slice(-countMax).map(({ who, text }) => ({ who, text }));
}

/** The server checked the body in full before it was stored. */
function isLogEvent(event: { readonly type: string; readonly seq: number; readonly at: number }): event is LogEvent {
  return isEventType(event.type);
}
