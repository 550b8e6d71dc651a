import assert from "node:assert/strict";
import { globSync, readlinkSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import type { Logger } from "../../src/observe/observe.ts";
import { openDiskWatch } from "../../src/sandbox/disk-watch.ts";
import type { WorkspaceLimits } from "../../src/workspace/workspace.ts";
import { cannotStart } from "../contracts/sandbox-guests.ts";
import { outcomeOf } from "../world/bare-supervisor.ts";
import { until } from "../world/events.ts";
import { testWorkspace } from "../world/workspace.ts";
import { conversation, newFolder, openAttacked } from "./guest.ts";

/** The watcher looks twenty times as often as it does otherwise. */
const hasty: Clock = { ...systemClock, after: (ms, action) => systemClock.after(ms / 20, action) };
const silent = () => {};
const logger: Logger = {
  ...{ debug: silent, info: silent, warn: silent, error: silent, path: undefined },
  ...{ flush: async () => {}, close: async () => {} },
};

type Fill = {
  readonly number: string;
  readonly name: string;
  readonly limits: Partial<WorkspaceLimits>;
  readonly code: string;
};

/** Bounded, so that they do no harm where nothing stops them. */
const fills: readonly Fill[] = [
  {
    number: "44",
    name: "filling the disk with many files",
    limits: { bytesMax: 20 * 1024 * 1024 },
    code: `
import os, time
for number in range(150):
    with open(f"outputs/f{number}", "wb") as file: file.write(os.urandom(1_000_000))
    time.sleep(0.02)
`,
  },
  {
    number: "45",
    name: "filling the disk with files of no size",
    limits: { filesMax: 1000 },
    code: `
import os, time
for number in range(30_000):
    open(f"temp/f{number}", "w").close()
    if number % 100 == 0: time.sleep(0.02)
`,
  },
  {
    number: "152",
    name: "filling the disk with folders and links",
    limits: { filesMax: 1000 },
    code: `
import os, time
for number in range(40_000):
    os.mkdir(f"temp/d{number}")
    os.symlink("x", f"temp/l{number}")
    if number % 100 == 0: time.sleep(0.02)
`,
  },
  {
    number: "162",
    name: "filling the disk with files that have no name",
    limits: { bytesMax: 20 * 1024 * 1024 },
    code: `
import os, time
held = []
for number in range(60):
    file = open("temp/hidden", "wb", buffering=0)
    os.unlink("temp/hidden")
    file.write(os.urandom(2_000_000))
    held.append(file)
    time.sleep(0.05)
`,
  },
];

for (const { number, name, limits, code } of fills) {
  test(`attack ${number}: ${name} is stopped by the watcher [X4]`, { skip: cannotStart }, async (t) => {
    assert.deepEqual(await watched(t, limits, code), { stdout: "", how: "killed" });
  });
}

test("attack 48: hiding what it takes up in files that have no name any more is stopped by the end of the turn [X4]", {
  skip: cannotStart,
}, async () => {
  const { guest } = await openAttacked();
  const name = `hidden-${systemIds.hex(12)}`;
  const code = `exec 5> outputs/${name}; head -c 1000000 /dev/zero >&5; rm outputs/${name}; setsid sleep 300 >/dev/null 2>&1 & echo`;
  await outcomeOf(guest.run({ id: systemIds.hex(32), agent: "a", language: "bash", code, timeoutMs: 30_000 }));
  await until("a file without a name is held", () => holdersOf(name) > 0);
  await guest.endTurn();
  await until("nothing is held", () => holdersOf(name) === 0);
  await guest.close("over");
});

/** Descriptors of any process that hold this file, which was removed. */
function holdersOf(name: string): number {
  return globSync("/proc/[0-9]*/fd/*").filter((path) => {
    try {
      return readlinkSync(path).endsWith(`${name} (deleted)`);
    } catch {
      return false; // Closed in between.
    }
  }).length;
}

async function watched(t: TestContext, limits: Partial<WorkspaceLimits>, code: string) {
  const { workspace, folder } = await testWorkspace(t, { base: newFolder(), limits });
  const { guest } = await openAttacked({ workspace: conversation(folder) });
  t.after(() => guest.close("over"));
  const watch = openDiskWatch({
    ...{ workspace, clock: hasty, logger },
    unnamedBytes: async () => (await guest.unnamedBytes?.()) ?? 0,
    onDiskFull: () => watch.end(),
    endBackground: async () => void (await guest.endTurn()),
    endGuest: () => void guest.close("disk"),
  });
  t.after(() => watch.stop());
  const id = systemIds.hex(32);
  // It stays as long as it may: how soon the watcher comes to look is for the machine to say.
  const staying = `${code}time.sleep(1000)\n`;
  const stop = watch.begin({ onOver: () => guest.kill(id) });
  const { stdout, end } = await outcomeOf(
    guest.run({ id, agent: "a", language: "python", code: staying, timeoutMs: 60_000 }),
  );
  stop();
  return { stdout, how: end.split(" ")[0] };
}
