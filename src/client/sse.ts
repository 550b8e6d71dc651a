import { z } from "zod";
import { parsedJson } from "../base/json.ts";
import { StreamFrame } from "../protocol/resources.ts";
import { openEventReader } from "../protocol/server-events.ts";
import { PartFrame } from "../protocol/stream.ts";

/** One event of a stream: what it says, and how far a reader has come that has it. */
export type ServerEvent = { readonly data: unknown; readonly id: string | undefined };

/** A frame of a conversation's stream; undefined for one that only a newer server knows. */
export type CameFrame = { readonly frame: StreamFrame | undefined; readonly id: string | undefined };

/** The frames of a conversation's stream. Ends with the body. */
export async function* readFrames(response: Response, signal: AbortSignal): AsyncGenerator<CameFrame, void> {
  for await (const { data, id } of readEvents(response, signal)) yield { frame: known(StreamFrame, data), id };
}

/** What came is none of our events: another server answers, or one of another version. */
export class Unreadable extends Error {}

/** A frame by its schema. One of a kind that the schema has not is passed over; one that is broken is unreadable. */
export function known<F>(schema: z.ZodType<F>, data: unknown): F | undefined {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  const isOther = parsed.error.issues.some((issue) => issue.code === "invalid_union" && issue.path.join() === "frame");
  if (isOther && AnyFrame.safeParse(data).success) return undefined;
  throw new Unreadable("no frame of ours", { cause: parsed.error });
}

const AnyFrame = z.object({ frame: z.string() });

/**
 * The events of our own server's streams. Those that came in parts are put together. Ends with the body, also where
 * that breaks off: whoever follows comes back in both cases. What is none of our events is thrown as `Unreadable`.
 * The signal cancels the body itself: that of a Request is lost when the Request is collected as garbage.
 */
export async function* readEvents(response: Response, signal: AbortSignal): AsyncGenerator<ServerEvent, void> {
  if (response.body === null) return;
  if (!isEventStream(response)) throw new Unreadable("no event stream");
  const reader = response.body.getReader();
  const cancel = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", cancel);
  const decoder = new TextDecoder();
  const whole = openJoin();
  const came: ServerEvent[] = [];
  const events = openEventReader({
    onEvent({ data, id }) {
      // The end of a stream in OpenAI's protocol; the end of the body says the same.
      if (data !== "[DONE]") came.push(whole({ data: jsonIn(data), id }));
    },
  });
  try {
    for (let chunk = await nextChunk(reader); chunk !== undefined; chunk = await nextChunk(reader)) {
      events.feed(decoder.decode(chunk, { stream: true }));
      yield* came.splice(0);
    }
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}

/** A proxy or a portal may answer in our place, with a page. */
export function isEventStream({ headers }: Response): boolean {
  return headers.get("content-type")?.startsWith("text/event-stream") === true;
}

async function nextChunk(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | undefined> {
  const chunk = await reader.read().catch(() => undefined);
  return chunk?.value;
}

/** Holds parts back until all are there. They come one after another, and a new connection begins with the first. */
function openJoin(): (event: ServerEvent) => ServerEvent {
  let texts: string[] = [];
  return ({ data, id }) => {
    // To find out that something is no part must cost nothing: nearly everything is none.
    const part = isPart(data) ? PartFrame.safeParse(data).data : undefined;
    if (part === undefined) return { data, id };
    if (part.index !== texts.length) throw new Unreadable("a part is missing");
    texts.push(part.text);
    if (texts.length < part.count) return { data: { ...part, text: "" }, id: undefined };
    const json = texts.join("");
    texts = [];
    return { data: jsonIn(json), id };
  };
}

function jsonIn(text: string): unknown {
  const json = parsedJson(text);
  if (json === undefined) throw new Unreadable("no JSON");
  return json;
}

function isPart(data: unknown): boolean {
  return typeof data === "object" && data !== null && "frame" in data && data.frame === "part";
}
