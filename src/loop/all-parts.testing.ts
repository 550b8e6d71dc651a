import assert from "node:assert/strict";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { baseModel } from "../../test/world/base-model.ts";
import { openDatabase } from "../../test/world/database.ts";
import { folderWith } from "../../test/world/folder.ts";
import { endlessClock, manualClock } from "../../test/world/manual-clock.ts";
import { type Play, playedProvider } from "../../test/world/played-provider.ts";
import { testSettings } from "../../test/world/sandbox-settings.ts";
import { webSettings } from "../../test/world/web.ts";
import { testLimits } from "../../test/world/workspace.ts";
import { openApprovals } from "../approvals/approvals.ts";
import { defaultRules } from "../approvals/rules.ts";
import { systemIds } from "../base/ids.ts";
import { openDocuments } from "../documents/documents.ts";
import { type Homes, homesHere } from "../homes/homes.ts";
import { openLog } from "../log/log.ts";
import { openLookup } from "../lookup/lookup.ts";
import type { Logger } from "../observe/observe.ts";
import { defaultUploadPolicy } from "../protocol/upload-policy.ts";
import { openSandbox } from "../sandbox/sandbox.ts";
import { openSearch } from "../search/search.ts";
import { openSkills, type SkillSettings } from "../skills/skills.ts";
import type { Storage } from "../storage/storage.ts";
import { builtins, openToolkit } from "../tools/tools.ts";
import { openWeb } from "../web/web.ts";
import { wordsFor } from "../words/words.ts";
import { openWorkspaces } from "../workspace/workspace.ts";
import { openGates } from "./gates.ts";
import { openLive } from "./live.ts";
import { openMarks } from "./marks.ts";
import { defaultLimits, type Parts } from "./parts.ts";

type Given = {
  /** How storage answers in the moment that a test is about. */
  readonly wrap?: ((real: Storage) => Storage) | undefined;
  /** What programs say; without it they go on until somebody ends them. */
  readonly play?: Play | undefined;
  /** Which of the skills below `skills/` are switched off, and which files they are for. */
  readonly skills?: SkillSettings["byId"] | undefined;
  /** What lies in the data directory. */
  readonly files?: Readonly<Record<string, string>> | undefined;
};

/**
 * All that the loop works with, each part the real one, over a database and a folder of the test's. The time is the
 * test's, no model is asked, and programs run in guests that are played.
 */
export async function allParts(t: TestContext, { wrap = (real) => real, play, skills: byId = {}, files }: Given = {}) {
  const clock = manualClock();
  // Before the database is closed, those who work with it are.
  t.after(() => closeAll());
  const [dataDir, real] = [folderWith(t, files ?? {}), openDatabase(t, clock)];
  const storage = wrap(real);
  /** The log file: what was warned of, with its facts, and what was told besides. */
  const warned: [message: string, facts: object | undefined][] = [];
  const told: string[] = [];
  const warn: Logger["warn"] = (message, facts) => void warned.push([message, facts]);
  const logger: Logger = {
    ...{ path: undefined, info: (line) => void told.push(line), debug() {}, warn, error: warn },
    ...{ flush: async () => {}, close: async () => {} },
  };
  const log = openLog({
    ...{ storage, clock, ids: systemIds, checksReads: true },
    onBrokenRecord: () => assert.fail("all can be read"),
  });
  const models = await baseModel(clock, 16_000);
  const provider = playedProvider(play);
  // Nothing of a sandbox is due in the time of a test but what it waits for itself.
  const sandbox = openSandbox({
    ...{ provider, storage: real, clock: { ...manualClock(), wait: endlessClock.wait }, ids: systemIds, logger },
    ...{ words: wordsFor("en"), settings: { ...testSettings, executionTimeoutMsMax: 3_600_000 } },
    network: { hosts: [], privateHosts: [], packageIndex: "https://pypi.org/simple", npmRegistry: undefined },
    packagesDir: join(dataDir, "packages"),
  });
  const place = { path: join(dataDir, "skills"), shown: "skills", kind: "user", isTrusted: true } as const;
  const near = { path: join(dataDir, "near"), shown: "near", kind: "project", isTrusted: true } as const;
  const skills = openSkills({
    ...{ settings: { places: [near, place], byId }, shelfDir: join(dataDir, "skill-copies"), logger },
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
  const homes: Homes = { ...homesHere };
  const parts: Parts = {
    ...{ log, storage, homes, models, skills, workspaces, documents, lookup, sandbox, clock, logger },
    ...{ toolkit: () => toolkit, lookUpTools: async () => {}, agents: () => [], beforeTurn: async () => {} },
    ...{ approvals: openApprovals({ rules: defaultRules, checkers: [] }), uploads: defaultUploadPolicy },
    ...{ live: openLive(), marks: openMarks(systemIds), gates: openGates(), limits: defaultLimits },
    web: openWeb({ clock, settings: () => webSettings, proxyEnv: () => ({}) }),
    ...{ ids: systemIds, random: () => 0.5, reachesNetwork: () => false, sweepSoon: () => {} },
  };
  return { parts, homes, clock, real, dataDir, provider, search, warned, told };
}
