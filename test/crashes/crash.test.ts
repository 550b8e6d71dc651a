import { test } from "node:test";
import { pause } from "../world/events.ts";
import { chanceOf, seedFor } from "../world/fuzz-chance.ts";
import { modelServer } from "../world/model-server.ts";
import { goOnFromEveryWrite } from "./every-write.ts";
import { finish, headsOf, inFolders, runChild } from "./killed.ts";
import { threeTurns } from "./scenario-turns.ts";

/** 200 in `npm run torture`. */
const { AGENTYARD_RANDOM_KILLS: wanted } = process.env;
const randomKills = Number(wanted ?? 1);
const chance = chanceOf(seedFor("crashes", wanted === undefined ? 1 : undefined));
/** `npm run torture`: from every write of every scenario. */
const isEvery = process.env.AGENTYARD_CRASH_SCENARIOS === "all";

/** What people see of each scenario, wherever a kill would have come. */
const promises = {
  threeTurns: "a conversation goes on with its turns, tools, questions and stops",
  uploads: "a file that is sent again is there once, and the ledger ends with it",
  nobodyBack: "messages that wait behind another are answered, though nobody comes back to ask for it",
  roomAndUndo: "a useless summary is noted once, room is made and undone once, and so is a turn with its files",
  fullWindow: "where a window is full room is made once, in the middle of the turn, which goes on with it",
  branchAndDelete: "a conversation is branched, undone, forgotten and deleted once",
  functionOfTheCaller: "a caller that runs functions of its own gets one answer to its question",
  decisions: "what a person decided counts once, and so does what they allowed always",
  secondThoughts: "what was withdrawn, named and listed counts once, also where the model was too busy at first",
  handOff: "the user is handed over to another agent once, and the main agent is back once",
  smallCompany: "agents that give work to agents go on, each with what it knows, and none is made or told twice",
} as const;

/** Each kind of write is looked at that none before has, and of these every one: what is done under a key is made once. */
const every: Readonly<Record<string, readonly string[]>> = {
  threeTurns: ["call.started", "call.finished", "decision.made"],
  uploads: ["beginOnce", "file.changed", "endOnce"],
  branchAndDelete: ["createConversation", "beginOnce", "endOnce"],
  functionOfTheCaller: ["decision.asked", "decision.made"],
  nobodyBack: ["message.user"],
  handOff: ["step.started", "call.started"],
};

test("from a copy of what a kill after any single write would leave, everything goes on and nothing acknowledged is lost [L2][L5][L9][H2][H4][Z2][F3][C5][C6][S6][W12][Q2]", async (t) => {
  const shown = new Set<string>();
  for (const [name, says] of Object.entries(promises) as [keyof typeof promises, string][])
    await t.test(says, async (t) => {
      const ways = isEvery ? {} : { shown, every: every[name] ?? [] };
      const resumed = await goOnFromEveryWrite(name, ways);
      for (const write of Object.keys(resumed.after)) shown.add(write);
      const { after, writes, around } = resumed;
      t.diagnostic(`${name}: ${writes} writes, ${around} times what follows as well: ${JSON.stringify(after)}`);
    });
});

test("a real process, killed at moments that nothing chose: the conversation goes on as well [L2][Q2]", async () => {
  await using model = await modelServer(threeTurns.answer);
  for (let kills = 0; kills < randomKills; )
    await inFolders(1, async ([data = ""]) => {
      const [lineOfKill, delayMs] = [chance.int(1, 18), chance.next() * 10];
      const order = [{ scenario: "threeTurns", modelUrl: model.url, data }] as const;
      let lines = 0;
      const { signal, told } = await runChild(order, (kill) => {
        lines += 1;
        if (lines === lineOfKill) void pause(delayMs).then(kill);
      });
      if (signal === "SIGKILL") kills += 1;
      const { outcome } = await finish(threeTurns, { data, modelUrl: model.url }, headsOf(...told));
      threeTurns.check(outcome);
    });
});
