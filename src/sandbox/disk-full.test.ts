import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { manualClock } from "../../test/world/manual-clock.ts";
import { playedProvider } from "../../test/world/played-provider.ts";
import { systemIds } from "../base/ids.ts";
import { ok } from "../base/result.ts";
import { makeFailure } from "../protocol/failure.ts";
import { localOwner } from "../protocol/ids.ts";
import { type Measured, noWorkspace } from "../workspace/workspace.ts";
import { openGuests } from "./guests.ts";
import type { SandboxSettings } from "./sandbox.ts";

const limits = { memoryBytes: 1, processesMax: 1, cpus: 1, fileBytesMax: 1, tmpBytesMax: 1, outputBytesMax: 1 };
const settings: SandboxSettings = {
  ...{ limits, uploads: { fileBytesMax: 1, filesMax: 1, types: [] }, ttlMs: 1e9, modules: [] },
  ...{ guestsPerOwnerMax: 9, guestsMax: 9, executionsPerOwnerMax: 9, executionsMax: 9, waitingMax: 9, waitMsMax: 1e9 },
  ...{
    kernelIdleMs: 1e9,
    guestIdleMs: 1e9,
    executionTimeoutMsMax: 1e9,
    recordsMs: 1e9,
    readyRetriesMax: 1,
    readyRetryMs: 1,
  },
};
const of = (bytes: number, over?: "disk"): Measured => ({
  ...{ bytes, files: 0, folders: 0, bytesMax: 1e9, filesMax: 10, freeBytes: 0, over, isFarOver: false },
});

test("when the disk is full, who took the most of it is ended, and the others go on [X4]", async () => {
  const [clock, provider] = [manualClock(), playedProvider()];
  const [quiet, done] = [() => {}, async () => {}];
  const logger = { path: undefined, debug: quiet, info: quiet, warn: quiet, error: quiet, flush: done, close: done };
  const guests = openGuests({
    ...{ provider, clock, logger, ids: systemIds, reaped: Promise.resolve(), settings },
    ...{ network: { wayOut: () => undefined }, folderOf: async () => undefined, onRoom: quiet },
  });
  const ended: string[] = [];
  const measured = new Map<string, Measured>();
  const begin = async (id: string) => {
    const folder = {
      folder: "/",
      inside: `/workspace/${id}`,
      writable: "all",
      skills: undefined,
      uid: undefined,
      marks: {},
      release() {},
    } as const;
    const nothing = noWorkspace(id, makeFailure("workspace_not_assigned", { agent: "root" }));
    const measure = async () => ok(measured.get(id) ?? of(100));
    const workspace = { ...nothing, measure, guestFolder: async () => ok(folder) };
    const place = { owner: localOwner, conversation: 1, workspace, agent: "root" };
    const held = guests.take({ place, session: { limits, env: {} } });
    assert.ok(typeof held !== "string");
    await held.opened;
    held.watch?.begin({ onOver: () => void ended.push(id) }, of(100));
  };
  for (const id of ["small", "greedy", "still"]) await begin(id);
  const at = async (now: Readonly<Record<string, Measured>>) => {
    for (const [id, found] of Object.entries(now)) measured.set(id, found);
    clock.move(1000);
    await nextLoop();
    return new Set(ended.splice(0));
  };
  assert.deepEqual(await at({ still: of(100, "disk") }), new Set(["still"]), "nobody took anything: who noticed it");
  assert.deepEqual(await at({ small: of(200), greedy: of(5000), still: of(100) }), new Set());
  const full = { small: of(300, "disk"), greedy: of(5000, "disk"), still: of(100, "disk") };
  assert.deepEqual(await at(full), new Set(["greedy"]));
  assert.deepEqual(
    provider.guests.map(({ wanted, told }) => [wanted.workspace?.inside, new Set(told)]),
    [
      ["/workspace/small", new Set()],
      ["/workspace/greedy", new Set(["end all"])],
      ["/workspace/still", new Set(["end all"])],
    ],
  );
});
