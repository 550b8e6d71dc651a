import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/world/manual-clock.ts";
import { openFinds } from "./finds.ts";
import type { Job } from "./jobs.ts";
import type { Asked, Thread } from "./thread.ts";

const limits = { hitsMax: 10, snippetCharacters: 300 };
const jobFor = (query: string) => ({ do: "find", query, scope: { owner: "ann" }, limits }) as const;

test("a search by words that takes too long is ended and told, and those behind it have their own time or hear of the end [D3]", async () => {
  const clock = manualClock();
  const begun: string[] = [];
  let lose = (_asked: Asked<never>) => {};
  // It answers nothing that is slow, and everything else with what stands for an empty query.
  const thread: Thread = {
    ask: (job: Job) => {
      const query = job.do === "find" ? job.query : "";
      begun.push(query);
      return new Promise((resolve) => {
        if (query === "slow") lose = resolve;
        else resolve({ answer: undefined } as Asked<never>);
      });
    },
    end: async () => lose({ fault: { code: "ended", said: "the thread was ended" } }),
  };
  const { find, close } = openFinds(thread, clock);
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  assert.deepEqual(await find(jobFor("quick")), { answer: undefined });
  const [slow, behind] = [find(jobFor("slow")), find(jobFor("behind"))];
  await turn();
  clock.move(9_999);
  await turn();
  assert.deepEqual(begun, ["quick", "slow"]);
  clock.move(1);
  assert.deepEqual(await slow, { fault: { code: "ended", said: "the search took longer than 10 seconds" } });
  assert.deepEqual(await behind, { answer: undefined });
  assert.deepEqual(begun, ["quick", "slow", "behind"]);

  const [running, waiting] = [find(jobFor("slow")), find(jobFor("waiting"))];
  await turn();
  await close();
  assert.deepEqual(await running, { fault: { code: "ended", said: "the thread was ended" } });
  assert.deepEqual(await waiting, { fault: { code: "ended", said: "the search was closed" } });
  assert.deepEqual(begun, ["quick", "slow", "behind", "slow"]);
});
