import { StreamFrame } from "../protocol/resources.ts";

/** One event of a stream: what it says, and how far a reader has come that has it. */
export type ServerEvent = { readonly data: unknown; readonly id: string | undefined };

/** The frames of a conversation's stream. Ends with the body. */
export async function* readFrames(response: Response, signal: AbortSignal): AsyncGenerator<StreamFrame, void> {
  for await (const { data } of readEvents(response, signal)) yield StreamFrame.parse(data);
}

/**
 * The events of our own server's streams: one `data` line an event, lines ended by a line feed. Ends with the body.
 * The signal cancels the body itself: that of a Request is lost when the Request is collected as garbage.
 */
export async function* readEvents(response: Response, signal: AbortSignal): AsyncGenerator<ServerEvent, void> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const cancel = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", cancel);
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      const events = (rest + decoder.decode(chunk.value, { stream: true })).split("\n\n");
      rest = events.pop() ?? "";
      for (const event of events) yield parseEvent(event);
    }
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}

function parseEvent(text: string): ServerEvent {
  const lines = text.split("\n");
  const after = (prefix: string) => lines.find((line) => line.startsWith(prefix))?.slice(prefix.length);
  return { data: JSON.parse(after("data: ") ?? ""), id: after("id: ") };
}
