import assert from "node:assert/strict";
import { test } from "node:test";
import { pause } from "../world/events.ts";
import { chanceOf, seedFor } from "../world/fuzz-chance.ts";
import { modelServer } from "../world/model-server.ts";
import { finish, headsOf, inFolders, runChild, type Told } from "./killed.ts";
import { company } from "./scenarios/company.ts";

/** 20 in `npm run torture`. */
const kills = Number(process.env.AGENTYARD_COMPANY_KILLS ?? 2);
const chance = chanceOf(seedFor("company kills"));

test("a company of agents that is killed again and again ends with the same answer and the same files [A1][A2][L2][W13]", async () => {
  await using model = await modelServer(company.answer);
  const modelUrl = model.url;
  await inFolders(2, async ([quiet = "", data = ""]) => {
    const { outcome: undisturbed } = await finish(company, { data: quiet, modelUrl });
    const told: Told[] = [];
    for (let killed = 0; killed < kills; ) {
      const [lineOfKill, delayMs] = [chance.int(2, 12), chance.next() * 20];
      let lines = 0;
      const ended = await runChild([{ scenario: "company", modelUrl, data }], (kill) => {
        lines += 1;
        if (lines === lineOfKill) void pause(delayMs).then(kill);
      });
      told.push(...ended.told);
      // It came to its end before: what is left to show is that it stays so.
      if (ended.signal === null) break;
      killed += 1;
    }
    const { outcome } = await finish(company, { data, modelUrl }, headsOf(...told));
    assert.deepEqual(outcome, undisturbed);
  });
  console.log(`crashes: a company was killed up to ${kills} times at random`);
});
