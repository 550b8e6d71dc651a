import assert from "node:assert/strict";
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { testWorkspace } from "../../test/world/workspace.ts";
import { systemClock } from "../base/clock.ts";

test("a count of many files that took long is good for ten times as long, two seconds at the most; any other is made anew [X4]", async (t) => {
  let [now, tookMs] = [0, 0];
  // Time passes with each look at the clock, of which a count has two.
  const monotonic = () => {
    now += tookMs;
    return now;
  };
  const { workspace, folder } = await testWorkspace(t, { clock: { ...systemClock, monotonic } });
  const put = (name: string) => symlinkSync("nowhere", join(folder, "temp", name));
  const count = async (ms: number, before = 0) => {
    now += before;
    tookMs = ms;
    const measured = await workspace.measure();
    tookMs = 0;
    return measured.ok && measured.value.files;
  };
  put("first");
  assert.equal(await count(900), 1);
  put("second");
  assert.equal(await count(0), 2, "few files take long only where the machine is busy");
  for (let n = 0; n < 1_000; n += 1) put(`${n}`);
  assert.equal(await count(50), 1_002);
  rmSync(join(folder, "temp", "1"));
  assert.equal(await count(51), 1_001, "50 ms are not long");
  rmSync(join(folder, "temp", "2"));
  assert.equal(await count(0, 509), 1_001);
  assert.equal(await count(0, 1), 1_000);
  assert.equal(await count(900), 1_000);
  rmSync(join(folder, "temp", "3"));
  assert.equal(await count(0, 1_999), 1_000);
  assert.equal(await count(0, 1), 999);
});
