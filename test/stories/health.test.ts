import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { failure } from "../../src/protocol/failure.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { noSandbox } from "../world/sandbox.ts";
import { must, startYard } from "../world/yard.ts";

test("health is as good as what is worst: a sandbox that lacks something, or a database that is away [X2][P5]", async () => {
  const lack = (name: "no_bwrap" | "no_cgroup_memory") => ({ name, reason: `${name} is so`, fix: "mend it" });
  const sandbox = noSandbox();
  let isAway = false;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    check: async () => (isAway ? failure("storage_busy", {}) : storage.check()),
  });
  const statuses = async (missing: ReturnType<typeof lack>[], degraded: ReturnType<typeof lack>[]) => {
    const probe = async () => ({ missing, degraded });
    await using yard = await startYard({ openSandbox: () => ({ ...sandbox, probe }), wrapStorage });
    const { status, dependencies } = await must(yard.client.call("healthDetailed", {}));
    return [status, dependencies.sandbox.status, dependencies.sandbox.error, dependencies.database.status];
  };
  assert.deepEqual(await statuses([], []), ["healthy", "healthy", null, "healthy"]);
  assert.deepEqual(await statuses([], [lack("no_cgroup_memory")]), ["degraded", "degraded", null, "healthy"]);
  const without = await statuses([lack("no_bwrap")], [lack("no_cgroup_memory")]);
  assert.deepEqual([...without.slice(0, 2), without[3]], ["unhealthy", "unhealthy", "healthy"]);
  assert.notEqual(without[2], null);
  isAway = true;
  assert.deepEqual(await statuses([], [lack("no_cgroup_memory")]), ["unhealthy", "degraded", null, "unhealthy"]);
});

test("a server says for how many seconds it has been up, and what it found to clear away [X2][O1]", async () => {
  let now = 5_000;
  const swept = { processes: 1, groups: 2, mounts: 3 };
  await using yard = await startYard({
    clock: { ...systemClock, monotonic: () => now },
    openSandbox: () => ({
      ...noSandbox(),
      sweep: async () => swept,
      load: () => ({ guests: 4, running: 5, waiting: 6 }),
    }),
  });
  now += 1_234.6;
  const { client } = yard;
  const [short, long] = [await must(client.call("health", {})), await must(client.call("healthDetailed", {}))];
  assert.deepEqual([short.uptime, long.uptime], [1.235, 1.235]);
  const { guests, running, waiting } = long.dependencies.sandbox;
  assert.deepEqual([guests, running, waiting], [4, 5, 6]);
  assert.deepEqual(await must(client.call("healthSync", {})), { status: "completed", ...swept });
});
