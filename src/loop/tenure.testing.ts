import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { openDatabase } from "../../test/world/database.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { notedLater } from "../../test/world/partly.ts";
import { systemIds } from "../base/ids.ts";
import { homesHere } from "../homes/homes.ts";
import { openLog } from "../log/log.ts";
import type { NewEvent } from "../protocol/events.ts";
import { localOwner } from "../protocol/ids.ts";
import type { Storage } from "../storage/storage.ts";
import { openGates } from "./gates.ts";
import { defaultLimits } from "./parts.ts";
import type { Run } from "./run.ts";
import { openTenure, type TenureParts } from "./tenure.ts";

/** A conversation in the hands of this process, over a storage of its own, and what others do to it. */
export async function keepOne(
  t: TestContext,
  {
    before = [],
    wrap = (storage) => storage,
  }: { before?: readonly NewEvent[]; wrap?: (real: Storage) => Storage } = {},
) {
  const clock = manualClock();
  clock.move(1);
  const real = openDatabase(t, clock);
  const storage = wrap(real);
  const log = openLog({
    ...{ storage, clock, ids: systemIds, checksReads: true },
    onBrokenRecord: () => assert.fail("all can be read"),
  });
  const made = await log.createConversation(localOwner, { id: "c" });
  assert.ok(made.ok);
  const { value: conversation } = made;
  const { number } = conversation;
  const warned: unknown[] = [];
  const looks: number[] = [];
  const parts: TenureParts = {
    ...{ log, storage, clock, homes: homesHere, gates: openGates(), limits: defaultLimits },
    logger: {
      ...{ path: undefined, info() {}, debug() {}, flush: async () => {}, close: async () => {} },
      warn: (message, facts) => warned.push([message, facts]),
      error: (message, facts) => warned.push([message, facts]),
    },
    beforeTurn: () => notedLater(looks, clock.monotonic()),
    workspaces: {
      agentRow: ({ agent, parent, isTask }) => ({ id: agent, parent, folder: isTask ? agent : undefined }),
    },
  };
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
  return { parts, log, real, clock, conversation, number, tenure, agent, others, warned, looks };
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
