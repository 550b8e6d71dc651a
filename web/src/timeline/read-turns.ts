import { ok, type Result } from "../../../src/base/result.ts";
import type { Client, ClientFailure } from "../../../src/client/client.ts";
import { isEventType, type LogEvent } from "../../../src/protocol/events.ts";
import { type TimedTurn, timeTurns, unnamedAgents } from "./turns.ts";

export const eventsMax = 1_000;

/** The turns in the newest part of the log. */
export async function readTurns(
  client: Client,
  conversation: string,
  head: number,
): Promise<Result<TimedTurn[], ClientFailure>> {
  const params = { id: conversation };
  const query = { after: Math.max(0, head - eventsMax), limit: eventsMax };
  const page = await client.call("readEvents", { params, query });
  if (!page.ok) return page;
  const events = page.value.items.filter(isKnown);
  if (query.after === 0) return ok(timeTurns(events));
  // The turn, and agents that work in it, may have begun before what was read.
  const [row, agents] = await Promise.all([
    client.call("getConversation", { params }),
    unnamedAgents(events).size === 0 ? undefined : client.call("listConversationAgents", { params }),
  ]);
  const names = agents?.ok
    ? agents.value.items.map(({ id, mode, name }) => [id, mode === "worker" ? "" : name] as const)
    : [];
  return ok(timeTurns(events, { names: new Map(names), ...(row.ok && { turn: row.value.turns + 1 }) }));
}

function isKnown(event: { readonly type: string; readonly seq: number; readonly at: number }): event is LogEvent {
  return isEventType(event.type);
}
