import assert from "node:assert/strict";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { baseModel } from "../../test/world/base-model.ts";
import { openDatabase } from "../../test/world/database.ts";
import { folderWith } from "../../test/world/folder.ts";
import { endlessClock, manualClock } from "../../test/world/manual-clock.ts";
import { playedProvider } from "../../test/world/played-provider.ts";
import { testSettings } from "../../test/world/sandbox-settings.ts";
import { webSettings } from "../../test/world/web.ts";
import { testLimits } from "../../test/world/workspace.ts";
import { openApprovals } from "../approvals/approvals.ts";
import { defaultRules } from "../approvals/rules.ts";
import { systemIds } from "../base/ids.ts";
import { openDocuments } from "../documents/documents.ts";
import { homesHere } from "../homes/homes.ts";
import { openLog } from "../log/log.ts";
import { openLookup } from "../lookup/lookup.ts";
import type { Logger } from "../observe/observe.ts";
import type { NewEvent } from "../protocol/events.ts";
import { localOwner } from "../protocol/ids.ts";
import { defaultUploadPolicy } from "../protocol/upload-policy.ts";
import { openSandbox } from "../sandbox/sandbox.ts";
import { openSearch } from "../search/search.ts";
import { openSkills } from "../skills/skills.ts";
import type { ConversationRow, Storage } from "../storage/storage.ts";
import { builtins, openToolkit } from "../tools/tools.ts";
import { openWeb } from "../web/web.ts";
import { wordsFor } from "../words/words.ts";
import { openWorkspaces } from "../workspace/workspace.ts";
import { openGates } from "./gates.ts";
import { openLive } from "./live.ts";
import { openMarks } from "./marks.ts";
import { defaultLimits, type Parts } from "./parts.ts";
import type { Run } from "./run.ts";
import { openTenure } from "./tenure.ts";

type Given = {
  /** How storage answers in the moment that a test is about. */
  readonly wrap?: ((real: Storage) => Storage) | undefined;
};

/**
 * All that the loop works with, each part the real one, over a database and a folder of the test's. The time is the
 * test's, no model is asked, and programs run in guests that are played.
 */
export async function allParts(t: TestContext, { wrap = (real) => real }: Given = {}) {
  const clock = manualClock();
  // Before the database is closed, those who work with it are.
  t.after(() => closeAll());
  const [dataDir, real] = [folderWith(t, {}), openDatabase(t, clock)];
  const storage = wrap(real);
  /** The warnings of the log file, with their facts. */
  const warned: [message: string, facts: object | undefined][] = [];
  const warn: Logger["warn"] = (message, facts) => void warned.push([message, facts]);
  const logger: Logger = {
    ...{ path: undefined, info() {}, debug() {}, warn, error: warn },
    ...{ flush: async () => {}, close: async () => {} },
  };
  const log = openLog({
    ...{ storage, clock, ids: systemIds, checksReads: true },
    onBrokenRecord: () => assert.fail("all can be read"),
  });
  const models = await baseModel(clock, 16_000);
  const provider = playedProvider();
  // Nothing of a sandbox is due in the time of a test but what it waits for itself.
  const sandbox = openSandbox({
    ...{ provider, storage: real, clock: { ...manualClock(), wait: endlessClock.wait }, ids: systemIds, logger },
    ...{ words: wordsFor("en"), settings: { ...testSettings, executionTimeoutMsMax: 3_600_000 } },
    network: { hosts: [], privateHosts: [], packageIndex: "https://pypi.org/simple", npmRegistry: undefined },
    packagesDir: join(dataDir, "packages"),
  });
  const skills = openSkills({
    ...{ settings: { places: [], byId: {} }, shelfDir: join(dataDir, "skill-copies"), logger },
  });
  const workspaces = openWorkspaces({
    ...{ dataDir, storage, clock, ids: systemIds, logger, limits: testLimits, leave: sandbox.leave },
    skills: skills.shelf,
  });
  const index = openSearch({ file: join(dataDir, "indexes.db"), clock });
  assert.ok(index.ok);
  const { value: search } = index;
  const documents = openDocuments({ clock, logger, search });
  const lookup = openLookup({ log, workspaces, documents, search, clock, logger });
  const closeAll = async () => {
    for (const part of [sandbox, workspaces, lookup, documents, search, models]) await part.close();
  };
  const toolkit = openToolkit(builtins);
  const parts: Parts = {
    ...{ log, storage, homes: homesHere, models, skills, workspaces, documents, lookup, sandbox, clock, logger },
    ...{ toolkit: () => toolkit, lookUpTools: async () => {}, agents: () => [], beforeTurn: async () => {} },
    ...{ approvals: openApprovals({ rules: defaultRules, checkers: [] }), uploads: defaultUploadPolicy },
    ...{ live: openLive(), marks: openMarks(systemIds), gates: openGates(), limits: defaultLimits },
    web: openWeb({ clock, settings: () => webSettings, proxyEnv: () => ({}) }),
    ...{ ids: systemIds, random: () => 0.5, reachesNetwork: () => false, sweepSoon: () => {} },
  };
  return { parts, clock, real, warned };
}

type KeptGiven = Parameters<typeof allParts>[1] & { readonly before?: readonly NewEvent[] };

/** A conversation in the hands of this process, over a storage of its own, and what others do to it. */
export async function keepOne(t: TestContext, { before = [], ...given }: KeptGiven = {}) {
  const { parts, clock, ...world } = await allParts(t, given);
  clock.move(1);
  const { log } = parts;
  const made = await log.createConversation(localOwner, { id: "c" });
  assert.ok(made.ok);
  const { value: conversation } = made;
  const { number } = conversation;
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
  return { ...world, parts, log, clock, conversation, number, tenure, agent, others };
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

const messageOf = (id: string): NewEvent => ({ type: "message.user", id, text: "go", mode: "queue" });

export const waiting = messageOf("m1");

export const running: readonly NewEvent[] = [waiting, { type: "turn.started", turn: 1, message: "m1", epoch: 1 }];
