import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { NewEvent } from "../protocol/events.ts";
import { localOwner } from "../protocol/ids.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { allParts } from "./all-parts.testing.ts";

/** Conversations of a storage that nobody drives, with what is needed for looking at them. */
export async function leftOver(t: TestContext, given: Parameters<typeof allParts>[1] = {}) {
  const all = await allParts(t, given);
  const { log } = all.parts;
  /** Somebody stored this, with the wish that it is looked at. */
  const leave = async (row: ConversationRow, ...events: NewEvent[]): Promise<void> => {
    const stored = await log.append(row.number, events, { with: { wake: { notBefore: 0 } } });
    assert.ok(stored.ok);
  };
  const start = async (id: string, ...events: NewEvent[]): Promise<ConversationRow> => {
    const made = await log.createConversation(localOwner, { id });
    assert.ok(made.ok);
    if (events.length > 0) await leave(made.value, ...events);
    return made.value;
  };
  return { ...all, start, leave };
}

export const messageOf = (id: string): NewEvent => ({ type: "message.user", id, text: "go", mode: "queue" });
export const waiting = messageOf("m1");
export const running: readonly NewEvent[] = [waiting, { type: "turn.started", turn: 1, message: "m1", epoch: 1 }];
