import { systemIds } from "../../src/base/ids.ts";
import { createClient } from "../../src/client/client.ts";
import type { LogEvent } from "../../src/protocol/events.ts";
import { question } from "../engine/script.ts";
import { must } from "../must.ts";

/** A client that goes to any of the servers with each request, as a simple balancer would send it. */
export function clientOf(addresses: readonly string[]) {
  let next = 0;
  const anyone = () => {
    next = (next + 1) % addresses.length;
    return addresses[next] ?? "";
  };
  return createClient({
    fetch: (url, init) => fetch(url.replace("http://localhost", anyone()), init),
    newKey: () => systemIds.uuid(),
  });
}

type AnyClient = ReturnType<typeof clientOf>;

export async function newConversation(client: AnyClient): Promise<string> {
  return must(await client.call("createConversation", { body: {} })).id;
}

/** One turn of so many tool steps, from the message to its end, followed as a screen does it. `onEvent` hears of each. */
export async function takeTurn(
  client: AnyClient,
  { id, steps, after = 0, onEvent = () => {} }: TurnWanted,
): Promise<number> {
  const over = new AbortController();
  must(await client.call("sendMessage", { params: { id }, body: { text: question(steps) } }));
  let last = after;
  for await (const frame of client.follow(id, { after, signal: over.signal })) {
    if (frame.frame === "failed") throw new Error(frame.failure.code);
    if (frame.frame !== "event") continue;
    last = frame.event.seq;
    onEvent(frame.event);
    if (frame.event.type === "turn.finished") over.abort();
  }
  return last;
}

type TurnWanted = {
  readonly id: string;
  readonly steps: number;
  /** Where the turn before ended. */
  readonly after?: number;
  readonly onEvent?: (event: LogEvent) => void;
};
