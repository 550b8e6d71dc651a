import assert from "node:assert/strict";
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { testLimits, testWorkspace } from "../../test/world/workspace.ts";
import { systemClock } from "../base/clock.ts";
import { measuredBy } from "./measure.ts";
import { visitOf } from "./visit.testing.ts";

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

test("a workspace is over at one more than it may have, and far over at twice that, 2 GiB and 100,000 files at least [X4]", () => {
  const gibibyte = 1024 ** 3;
  type Counted = Partial<Record<"bytes" | "files" | "folders", number>>;
  const over = (limits: { bytesMax: number; filesMax: number }, counted: Counted) => {
    const visit = visitOf("/nowhere/at/all", { limits: { ...testLimits, ...limits } });
    const measured = measuredBy(visit, { bytes: 0, files: 0, folders: 0, trustedUntil: 0, ...counted });
    return [measured.over, measured.isFarOver];
  };
  const small = { bytesMax: 10, filesMax: 6 };
  assert.deepEqual(over(small, { bytes: 10, files: 6, folders: 6 }), [undefined, false]);
  assert.deepEqual(over(small, { bytes: 11 }), ["bytes", false]);
  for (const what of ["files", "folders"] as const) {
    assert.deepEqual(over(small, { [what]: 7 }), ["files", false]);
    assert.deepEqual(over(small, { [what]: 100_006 }), ["files", false]);
    assert.deepEqual(over(small, { [what]: 100_007 }), ["files", true]);
  }
  const large = { bytesMax: 3 * gibibyte, filesMax: 200_000 };
  assert.deepEqual(over(large, { bytes: 6 * gibibyte }), ["bytes", false]);
  assert.deepEqual(over(large, { bytes: 6 * gibibyte + 1 }), ["bytes", true]);
  assert.deepEqual(over(large, { files: 400_000 }), ["files", false]);
  assert.deepEqual(over(large, { files: 400_001 }), ["files", true]);
});
