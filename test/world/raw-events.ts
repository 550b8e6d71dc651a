import { StreamFrame } from "../../src/protocol/resources.ts";
import { streamPath } from "./http-reading.ts";
import type { WritingYard } from "./writing-yard.ts";

/** An event as it came over the wire. */
export type RawEvent = { readonly id: string | undefined; readonly frame: StreamFrame; readonly bytes: number };

type From = { readonly lastEventId?: string; readonly after?: string };

/** As a program reads that knows only server-sent events: until enough came, or the stream ends, or nothing is left. */
export async function readEvents(
  yard: WritingYard,
  { lastEventId, after }: From,
  isEnough: (events: readonly RawEvent[]) => boolean,
): Promise<RawEvent[]> {
  const query = after === undefined ? "" : `?after=${encodeURIComponent(after)}`;
  const headers = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
  const response = await yard.app.request(streamPath(query), { headers });
  const reader = response.body?.getReader();
  const events: RawEvent[] = [];
  let rest = "";
  const decoder = new TextDecoder();
  let isRead = false;
  /** Whoever has caught up and hears nothing for some turns of the loop lacks nothing. */
  const idle = async (): Promise<undefined> => {
    const before = events.length;
    for (let turns = 0; !isRead && events.length === before && turns < 20; ) {
      await new Promise((resolve) => setImmediate(resolve));
      turns += events.some(({ frame }) => frame.frame === "caught_up") ? 1 : 0;
    }
  };
  while (!isEnough(events)) {
    const chunk = await Promise.race([reader?.read(), idle()]);
    if (chunk === undefined || chunk.done) break;
    const texts = (rest + decoder.decode(chunk.value, { stream: true })).split("\n\n");
    rest = texts.pop() ?? "";
    for (const text of texts) if (!isEnough(events)) events.push(parsed(text));
  }
  isRead = true;
  await reader?.cancel();
  return events;
}

function parsed(text: string): RawEvent {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(text)?.[1];
  const frame = StreamFrame.parse(JSON.parse(field("data") ?? ""));
  return { id: field("id"), frame, bytes: Buffer.byteLength(text) + 2 };
}
