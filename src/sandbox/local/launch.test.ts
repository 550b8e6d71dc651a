import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { folderWith } from "../../../test/world/folder.ts";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { openFiles } from "../../../test/world/open-files.ts";
import { canaryLimits } from "../guest/canary.ts";
import type { GuestWanted } from "../provider.ts";
import type { Group, Groups } from "./groups.ts";
import { launchGuest } from "./launch.ts";
import type { LaunchSettings } from "./start.ts";

// What is left of a guest whose first process could not even be asked for: nothing.

/** A machine with groups that go when the test lets them, and on which nothing is started. */
function launching(t: TestContext, { path = "/usr/bin/bwrap", command = ["/bin/true"] }) {
  const folder = folderWith(t, { "c1/outputs/": "", "packages/": "" });
  mkdirSync(join(folder, "c1/uploads"));
  const seen: string[] = [];
  const gone = Promise.withResolvers<void>();
  const group: Group = {
    ...{ oomKills: () => 0, usage: () => ({ memoryBytes: 0, processes: 0, cpuMs: 0 }), processes: () => [] },
    ...{ add: () => assert.fail("nobody is there"), kill: () => void seen.push("killed") },
    async remove() {
      await gone.promise;
      seen.push("removed");
    },
  };
  const groups: Groups = {
    ...{ has: { memory: false, pids: false, cpu: false, kill: false }, expect: async () => {}, close() {} },
    ...{ make: () => group, reap: async () => ({ processes: [], groups: 0 }) },
  };
  const host: LaunchSettings = {
    bwrap: { path, version: "0.8.0", hasBindFd: true, hasDisableUserns: true, lacking: [] },
    ...{ seccomp: new Uint8Array(), groups, installation: "yard", clock: manualClock(), startTimeoutMs: 1000 },
  };
  const workspace = { folder: join(folder, "c1"), inside: "/workspace/c1", writable: ["uploads", "outputs"] };
  const wanted: GuestWanted = {
    ...{ id: "g", workspace, packages: join(folder, "packages"), limits: canaryLimits, uid: undefined, env: {} },
  };
  const program = { command, files: {}, programs: [], greet: () => assert.fail("nobody greets") };
  return {
    seen,
    letGo: gone.resolve,
    launched: launchGuest(wanted, program, host),
    open: () => openFiles().filter((name) => name.startsWith(folder)),
  };
}

test("a guest that the system does not let us start leaves no group and no folder open, and says why when its group is gone [X3][X4]", async (t) => {
  // More than the system takes as one argument.
  const { seen, letGo, launched, open } = launching(t, { command: ["/bin/true", "x".repeat(200_000)] });
  let isOver = false;
  void launched.then(() => (isOver = true));
  for (let loop = 0; loop < 5; loop += 1) await nextLoop();
  assert.equal(isOver, false);
  letGo();
  assert.deepEqual(await launched, { ok: false, failure: { why: "start_failed", said: "E2BIG" } });
  assert.deepEqual([seen, open()], [["removed"], []]);
});

test("a mistake of ours before a guest is started is thrown on, and leaves no group and no folder open [X3][X4]", async (t) => {
  const { seen, letGo, launched, open } = launching(t, { path: "/usr/bin/\0bwrap" });
  letGo();
  await assert.rejects(launched, { code: "ERR_INVALID_ARG_VALUE" });
  assert.deepEqual([seen, open()], [["removed"], []]);
});
