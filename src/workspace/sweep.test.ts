import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { folderWith } from "../../test/world/folder.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { noted, partly, type Some } from "../../test/world/partly.ts";
import { quietLogger, testLimits } from "../../test/world/workspace.ts";
import { systemIds } from "../base/ids.ts";
import { failed, ok } from "../base/result.ts";
import { localOwner } from "../protocol/ids.ts";
import { openBooks } from "./books.ts";
import { layoutOf } from "./layout.ts";
import { openSweep } from "./sweep.ts";
import type { TrashParts } from "./trash.ts";

type Parts = Parameters<typeof openSweep>[0];

/** A sweep that finds nothing to do but what the test gives it. */
function sweepOf(t: TestContext, { storage = {}, ...given }: Some<Parts> = {}, files: Record<string, string> = {}) {
  const logged: string[] = [];
  const none = async () => [];
  const base = folderWith(t, files);
  const parts = partly<Parts>({
    ...{ clock: manualClock(), ids: systemIds, limits: testLimits, logger: quietLogger(logged) },
    ...{ layout: layoutOf(base), books: openBooks(), isHere: async () => true, isClosing: () => false },
    storage: { unusedByCallers: none, expiredTrash: none, orphanedWorkspaces: none, ...storage },
    incoming: { sweep: async () => {} },
    ...given,
  });
  return { sweep: openSweep(parts), logged, base };
}

test("conversations of callers that cannot end now are left to the next sweep, however many they are [S6][Q3]", async (t) => {
  const asked: unknown[] = [];
  const rows = Array.from({ length: 20 }, (_, number) => ({ number }));
  const unusedByCallers = async (wanted: unknown) => noted(asked, wanted, rows);
  const { sweep, logged } = sweepOf(t, { storage: { unusedByCallers }, isHere: async () => false });
  assert.deepEqual(await sweep(), { left: 0 });
  const hourMs = 3_600_000;
  assert.deepEqual(asked, [
    { before: -hourMs, isPassing: true, limit: 20 },
    { before: -testLimits.callerMs, isPassing: false, limit: 20 },
  ]);
  assert.deepEqual(logged, []);
});

test("a caller's conversation ends only where it is still unused, and only as it was looked at [S6]", async (t) => {
  const appended: unknown[] = [];
  const { sweep } = sweepOf(t, {
    limits: { ...testLimits, callerMs: 0 },
    storage: {
      unusedByCallers: async ({ only, limit }) => {
        const numbers = only === undefined ? [1, 2, 3] : only === 2 ? [] : [only];
        return numbers.slice(0, limit).map((number) => ({ number }));
      },
      headOf: async (number) => number * 10,
      append: async (batch) => noted(appended, batch, batch.number === 1 ? failed({ code: "log_moved" }) : ok({})),
    },
  });
  await sweep();
  const ended = (number: number) => ({
    ...{ number, expectedHead: number * 10, events: [], with: { deleted: { at: 0 } } },
  });
  assert.deepEqual(appended, [ended(1), ended(3)]);
});

test("a sweep is over when uploads that never became whole are swept, too [S3]", async (t) => {
  const told: string[] = [];
  const swept = async () => {
    await nextLoop();
    told.push("uploads");
  };
  const { sweep } = sweepOf(t, { incoming: { sweep: swept } });
  await sweep();
  assert.deepEqual([...told, "over"], ["uploads", "over"]);
});

test("what programs of a task wrote and cannot be put in its place stays, and the log says why [W2][Q2]", async (t) => {
  const settled: string[] = [];
  const files = { "staging/wait-task/a": "of a program", "staging/wait-vain/": "", workspaces: "in the way" };
  const updated: unknown[] = [];
  const { sweep, logged, base } = sweepOf(
    t,
    {
      storage: { updateWorkspace: async (...given) => noted(updated, given, ok(undefined)) },
      plots: {
        settle(name) {
          settled.push(name);
          writeFileSync(join(base, "workspaces", "task"), "");
        },
      },
    },
    files,
  );
  assert.deepEqual(await sweep(), { left: 0 });
  assert.deepEqual(settled, ["workspaces/task"]);
  assert.deepEqual(updated, [["workspaces/task", { madeAt: 0, usedAt: 0, cleanedAt: null }]]);
  assert.deepEqual(logged, [
    'what programs of {agent} wrote is not in its place yet: {why} {"agent":"task","why":"io"}',
  ]);
  const there = ["wait-task/a", "wait-vain"].map((name) => existsSync(join(base, "staging", name)));
  assert.deepEqual(there, [true, false]);
});

test("what a removal left and nobody can remove is counted as left, and the log says why [S6][Q2]", async (t) => {
  const expired: TrashParts["storage"]["expiredTrash"] = async (_before, limit) => {
    const common = { owner: localOwner, number: 1, workspace: "c", movedAt: 1, bytes: 1, files: 1, conversation: "c" };
    const rows = ["0123abcd", "0123abce"].map((id) => ({ ...common, id, folder: `workspace/${id}` }));
    return partly<Awaited<ReturnType<TrashParts["storage"]["expiredTrash"]>>>(rows.slice(0, limit));
  };
  const dropped: string[] = [];
  const { sweep, logged } = sweepOf(t, {
    storage: {
      expiredTrash: expired,
      dropTrash: async (id) => noted(dropped, id, ok(undefined)),
      findWorkspace: async () => ({ cleanedAt: 1, folder: "workspace/0123abce" }),
      agentsOf: async () => [],
      updateWorkspace: async () => ok(undefined),
    },
    plots: {
      has: (name) => name === "trash/0123abce",
      remove: async (name) => (name === "trash/0123abce" ? failed("read_only") : ok(undefined)),
    },
  });
  assert.deepEqual(await sweep(), { left: 1 });
  assert.deepEqual(dropped, ["0123abcd", "0123abcd"], "the other is found again by the next sweep");
  assert.equal(logged[0], '{folder} was not removed: {why} {"folder":"trash/0123abce","why":"read_only"}');
});
