import { z } from "zod";
import { StreamFrame } from "../protocol/resources.ts";
import { PartFrame } from "../protocol/stream.ts";

/** One event of a stream: what it says, and how far a reader has come that has it. */
export type ServerEvent = { readonly data: unknown; readonly id: string | undefined };

/** A frame of a conversation's stream; undefined for one that only a newer server knows. */
export type CameFrame = { readonly frame: StreamFrame | undefined; readonly id: string | undefined };

/** The frames of a conversation's stream. Ends with the body. */
export async function* readFrames(response: Response, signal: AbortSignal): AsyncGenerator<CameFrame, void> {
  for await (const { data, id } of readEvents(response, signal)) yield { frame: known(StreamFrame, data), id };
}

/** A frame by its schema. One of a kind that the schema has not is passed over; one that is broken throws. */
export function known<F>(schema: z.ZodType<F>, data: unknown): F | undefined {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  const isOther = parsed.error.issues.some((issue) => issue.code === "invalid_union" && issue.path.join() === "frame");
  if (isOther && AnyFrame.safeParse(data).success) return undefined;
  throw parsed.error;
}

const AnyFrame = z.object({ frame: z.string() });

/**
 * The events of our own server's streams: one `data` line an event, lines ended by a line feed. Those that came in parts
 * are put together. Ends with the body.
 * The signal cancels the body itself: that of a Request is lost when the Request is collected as garbage.
 */
export async function* readEvents(response: Response, signal: AbortSignal): AsyncGenerator<ServerEvent, void> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const cancel = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", cancel);
  const decoder = new TextDecoder();
  const whole = openJoin();
  let rest = "";
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      const events = (rest + decoder.decode(chunk.value, { stream: true })).split("\n\n");
      rest = events.pop() ?? "";
      for (const text of events) {
        const event = parseEvent(text);
        const joined = event && whole(event);
        if (joined !== undefined) yield joined;
      }
    }
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}

/** Undefined for what says nothing: a comment, or a hint for browsers. */
function parseEvent(text: string): ServerEvent | undefined {
  const lines = text.split("\n");
  if (!lines.every((line) => /^(event: |id: |data: |retry: |:)/.test(line))) throw new Error("no event of ours");
  const after = (prefix: string) => lines.find((line) => line.startsWith(prefix))?.slice(prefix.length);
  const data = after("data: ");
  // The end of a stream in OpenAI's protocol; the end of the body says the same.
  if (data === "[DONE]") return undefined;
  return data === undefined ? undefined : { data: JSON.parse(data), id: after("id: ") };
}

/** Holds parts back until all are there. They come one after another, and a new connection begins with the first. */
function openJoin(): (event: ServerEvent) => ServerEvent | undefined {
  let texts: string[] = [];
  return ({ data, id }) => {
    const part = PartFrame.safeParse(data).data;
    if (part === undefined) return { data, id };
    if (part.index !== texts.length) throw new Error("a part is missing");
    texts.push(part.text);
    if (texts.length < part.count) return { data: { ...part, text: "" }, id: undefined };
    const json = texts.join("");
    texts = [];
    return { data: JSON.parse(json), id };
  };
}
