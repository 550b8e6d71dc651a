import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { NewEvent } from "../protocol/events.ts";
import { localOwner } from "../protocol/ids.ts";
import { allParts } from "./all-parts.testing.ts";
import type { Parts } from "./parts.ts";
import type { Run } from "./run.ts";
import { openTenure } from "./tenure.ts";

type Given = Parameters<typeof allParts>[1] & { readonly before?: readonly NewEvent[] };

/** A conversation in the hands of this process, over a storage of its own, and what others do to it. */
export async function keepOne(t: TestContext, { before = [], ...given }: Given = {}) {
  const { parts: all, clock, ...world } = await allParts(t, given);
  clock.move(1);
  const { log } = all;
  const made = await log.createConversation(localOwner, { id: "c" });
  assert.ok(made.ok);
  const { value: conversation } = made;
  const { number } = conversation;
  const looks: number[] = [];
  // A moment later: it is seen who does not wait for it.
  const beforeTurn = async () => {
    await soon();
    looks.push(clock.monotonic());
  };
  const parts: Parts = { ...all, beforeTurn };
  /** As a person does it, or another server. */
  const others = async (...events: NewEvent[]) => {
    const stored = await log.append(number, events);
    assert.ok(stored.ok);
    return stored.value.lastSeq;
  };
  if (before.length > 0) await others(...before);
  const opened = await openTenure(parts, conversation, "here");
  assert.ok(opened.ok);
  const { value: tenure } = opened;
  const agent = (id: string): Run => {
    const run = tenure.runs.get(id);
    assert.ok(run !== undefined, id);
    return run;
  };
  return { ...world, parts, log, clock, conversation, number, tenure, agent, others, looks };
}

export const soon = () => new Promise((resolve) => setImmediate(resolve));
export const said = (id: string): NewEvent => ({ type: "message.user", id, text: id, mode: "queue" });
export const spawned = (id: string, agent?: string): NewEvent => ({
  ...{ type: "agent.spawned", id, mode: "worker", role: "writer", brief: `be ${id}` },
  ...(agent === undefined ? {} : { agent }),
});
export const mailed = (id: string, to: string, agent?: string): NewEvent => ({
  ...{ type: "agent.mailed", to, id, text: id },
  ...(agent === undefined ? {} : { agent }),
});
export const started: NewEvent = { type: "turn.started", turn: 1, message: "m1", epoch: 1 };
