import assert from "node:assert/strict";
import { test } from "node:test";
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
