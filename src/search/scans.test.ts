import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/world/manual-clock.ts";
import type { Job } from "./jobs.ts";
import { openScans } from "./scans.ts";
import type { Asked, Thread } from "./thread.ts";

const limits = { hitsMax: 10, snippetCharacters: 300 };
const lookMs = 100;

/** A thread that has come so far with its job and no further. */
function stuckThread(beats: number): Thread & { readonly endings: () => number } {
  let endings = 0;
  let lose = (_asked: Asked<never>) => {};
  return {
    ask: (job: Job) => {
      if (job.do === "scan") Atomics.add(job.beats, 0, beats);
      return new Promise((resolve) => {
        lose = resolve;
      });
    },
    async end() {
      endings += 1;
      lose({ fault: { code: "ended", said: "the thread was ended" } });
    },
    endings: () => endings,
  };
}

/** After how many looks the thread is ended; undefined where it is waited for. */
async function looksUntilEnd(beats: number): Promise<number | undefined> {
  const clock = manualClock();
  const thread = stuckThread(beats);
  const scanning = openScans(thread, clock).scan(/x/, { owner: "ann" }, limits);
  for (let looks = 0; looks < 1_000; looks += 1) {
    await Promise.resolve();
    if (thread.endings() > 0) {
      assert.deepEqual(await scanning, { stopped: { answer: "time" }, hits: [] });
      return looks;
    }
    clock.move(lookMs);
  }
  return undefined;
}

test("a pattern that got lost is ended soon, a search between two passages at the end of its time [D3]", async () => {
  const [notBegun, walking, trying, walkingOn] = await Promise.all([0, 1, 2, 3].map(looksUntilEnd));
  assert.equal(notBegun, undefined);
  assert.ok(trying !== undefined && trying < 20, `${trying}`);
  for (const looks of [walking, walkingOn]) assert.ok(looks !== undefined && looks >= 95 && looks <= 110, `${looks}`);
});
