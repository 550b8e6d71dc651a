import type { Client } from "../../../src/client/client.ts";
import { isEventType, type LogEvent } from "../../../src/protocol/events.ts";

/** So many events before this place of the log, or all that there are; none where they cannot be read. */
export async function readBefore(client: Client, id: string, place: number, count: number): Promise<LogEvent[]> {
  const query = { after: Math.max(0, place - 1 - count), limit: count };
  const page = await client.call("readEvents", { params: { id }, query });
  // At the beginning there are fewer: the page goes on with what is known.
  return page.ok ? page.value.items.filter(isKnown).filter(({ seq }) => seq < place) : [];
}

/** The server checked the body in full before it was stored. */
function isKnown(event: { readonly type: string; readonly seq: number; readonly at: number }): event is LogEvent {
  return isEventType(event.type);
}
