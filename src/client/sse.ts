import { StreamFrame } from "../protocol/resources.ts";

/**
 * The frames of our own server's stream: one `data` line an event, lines ended by a line feed. Ends with the body.
 * The signal cancels the body itself: that of a Request is lost when the Request is collected as garbage.
 */
export async function* readFrames(response: Response, signal: AbortSignal): AsyncGenerator<StreamFrame, void> {
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

function parseEvent(text: string): StreamFrame {
  const data = text.split("\n").find((line) => line.startsWith(dataPrefix)) ?? "";
  return StreamFrame.parse(JSON.parse(data.slice(dataPrefix.length)));
}

const dataPrefix = "data: ";
