import assert from "node:assert/strict";
import { test } from "node:test";
import { pause } from "../world/events.ts";
import { chanceOf, seedFor } from "../world/fuzz-chance.ts";
import { modelServer } from "../world/model-server.ts";
import { finish, headsOf, inFolders, runChild, type Told } from "./killed.ts";
import { company } from "./scenarios/company.ts";

/** 20 in `npm run torture`. */
const { AGENTYARD_COMPANY_KILLS: wanted } = process.env;
const kills = Number(wanted ?? 2);
const chance = chanceOf(seedFor("company kills", wanted === undefined ? 1 : undefined));

test("a company of agents that is killed again and again ends with the same answer and the same files [A1][A2][L2][W13]", async () => {
  await using model = await modelServer(company.answer);
  const modelUrl = model.url;
  const { outcome: undisturbed } = await inFolders(1, ([data = ""]) => finish(company, { data, modelUrl }));
  let [killed, companies] = [0, 0];
  // One that comes to its end before it was killed often enough is followed by another.
  for (; killed < kills; companies += 1)
    await inFolders(1, async ([data = ""]) => {
      const told: Told[] = [];
      for (let isOver = false; killed < kills && !isOver; ) {
        const [lineOfKill, delayMs] = [chance.int(2, 6), chance.next() * 20];
        let lines = 0;
        const ended = await runChild([{ scenario: "company", modelUrl, data }], (kill) => {
          lines += 1;
          if (lines === lineOfKill) void pause(delayMs).then(kill);
        });
        assert.ok(lines > 0, "the child did something");
        told.push(...ended.told);
        isOver = ended.signal === null;
        if (!isOver) killed += 1;
      }
      const { outcome } = await finish(company, { data, modelUrl }, headsOf(...told));
      assert.deepEqual(outcome, undisturbed);
    });
  console.log(`crashes: ${companies} companies were killed ${killed} times at random`);
});
