import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { baseModel } from "../../test/world/base-model.ts";
import { openDatabase } from "../../test/world/database.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { openApprovals } from "../approvals/approvals.ts";
import { defaultRules } from "../approvals/rules.ts";
import { systemIds } from "../base/ids.ts";
import { type Homes, homesHere } from "../homes/homes.ts";
import { openLog } from "../log/log.ts";
import type { NewEvent } from "../protocol/events.ts";
import { localOwner } from "../protocol/ids.ts";
import type { ConversationRow, Storage } from "../storage/storage.ts";
import { builtins, openToolbox } from "../tools/tools.ts";
import { defaultLimits } from "./parts.ts";

/** Conversations of a storage that nobody drives, with what is needed for looking at them. */
export async function leftOver(t: TestContext, wrap: (real: Storage) => Storage = (real) => real) {
  const clock = manualClock();
  const storage = wrap(openDatabase(t, clock));
  const log = openLog({
    ...{ storage, clock, ids: systemIds, checksReads: true },
    onBrokenRecord: () => assert.fail("all can be read"),
  });
  const models = await baseModel(clock, 16_000);
  t.after(() => models.close());
  const toolbox = openToolbox(builtins);
  const logged: string[] = [];
  const homes: Homes = { ...homesHere };
  const note = (message: string) => void logged.push(message);
  const parts = {
    ...{ storage, log, clock, homes, models, limits: defaultLimits, agents: () => [], toolbox: () => toolbox },
    approvals: openApprovals({ rules: defaultRules, checkers: [] }),
    random: () => 0.5,
    logger: {
      ...{ path: undefined, info() {}, debug() {}, warn: note, error: note },
      ...{ flush: async () => {}, close: async () => {} },
    },
  };
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
  return { parts, homes, clock, start, leave, logged };
}

export const messageOf = (id: string): NewEvent => ({ type: "message.user", id, text: "go", mode: "queue" });
export const waiting = messageOf("m1");
export const running: readonly NewEvent[] = [waiting, { type: "turn.started", turn: 1, message: "m1", epoch: 1 }];
