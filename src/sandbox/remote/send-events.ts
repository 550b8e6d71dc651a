import { payloadBytesMax } from "../guest/frames.ts";
import type { ExecutionEvent } from "../provider.ts";
import type { Channel } from "./channel.ts";
import type { HostMessage } from "./wire.ts";

type Told = {
  readonly id: string;
  readonly events: AsyncIterable<ExecutionEvent>;
  /** Of the guest. */
  isOpen(): boolean;
};

/** What an execution tells, to the caller, as fast as that one reads. */
export async function sendEvents(channel: Channel<HostMessage>, { id, events, isOpen }: Told): Promise<void> {
  for await (const event of events) {
    sendEvent(channel, id, event, isOpen());
    await channel.drained();
  }
}

function sendEvent(channel: Channel<HostMessage>, id: string, event: ExecutionEvent, isOpen: boolean): void {
  switch (event.kind) {
    case "started":
      return channel.send({ type: "started", id, ...(event.isPythonNew && { isPythonNew: true }) });
    case "output":
      return inPieces(event.bytes, (piece) => channel.send({ type: "output", id, stream: event.stream }, piece));
    case "cut":
      return channel.send({ type: "cut", id, stream: event.stream, bytes: event.bytes }, event.tail);
    case "result":
      return inPieces(event.bytes, (piece, hasMore) =>
        channel.send({ type: "result", id, kind: event.type, hasMore }, piece),
      );
    case "exited": {
      const { how, code, signal, isPythonLost, metrics } = event;
      const end = { ...(code !== undefined && { code }), ...(signal !== undefined && { signal }) };
      channel.send({ type: "exited", id, how, ...end, ...(isPythonLost && { isPythonLost }), metrics, isOpen });
    }
  }
}

function inPieces(bytes: Buffer, send: (piece: Buffer, hasMore: boolean) => void): void {
  for (let start = 0; start === 0 || start < bytes.length; start += payloadBytesMax)
    send(bytes.subarray(start, start + payloadBytesMax), start + payloadBytesMax < bytes.length);
}
