// Runs alone: it starts and kills servers and a database, over and over.
import assert from "node:assert/strict";
import { systemClock } from "../../src/base/clock.ts";
import { chaosServers } from "../world/chaos-servers.ts";
import { chaosAnswer, judge, type Talked, talk } from "../world/chaos-talk.ts";
import { pause, until } from "../world/events.ts";
import { chanceOf, seedFor } from "../world/fuzz-chance.ts";
import { modelServer } from "../world/model-server.ts";
import { startPostgres, onPostgres as test } from "../world/postgres-server.ts";

/** Three servers, 300 conversations and three minutes in `npm run torture`. */
const conversations = Number(process.env.AGENTYARD_CHAOS_CONVERSATIONS ?? 3);
const count = Number(process.env.AGENTYARD_CHAOS_SERVERS ?? 2);
const { AGENTYARD_CHAOS_SECONDS: wanted } = process.env;
const seconds = Number(wanted ?? 2);
/** The short form has the same chance each time; the long one is there to find what is rare. */
const chance = chanceOf(seedFor("chaos", wanted === undefined ? 1 : undefined));
/** From the end of all trouble until the last turn has ended; it only tells never from late. */
const calmMsMax = 240_000 + conversations * 1_000;

test("servers on one database are killed, cut off and restarted, and the database too: nothing acknowledged is lost, nothing is done twice, every stream is whole [N1][L2][C3][Q2]", async (t) => {
  await using model = await modelServer((request) => {
    model.asked.length = 0;
    return chaosAnswer(request);
  });
  const database = await startPostgres({ max_connections: 100 });
  const servers = await chaosServers({ count, database, modelUrl: model.url, chance });
  t.after(async () => {
    await servers.close();
    await database.stop();
  });
  const endsAt = systemClock.monotonic() + seconds * 1000;
  const isOver = () => systemClock.monotonic() > endsAt;
  const talked: Talked[] = [];
  const open = new Map(Array.from({ length: conversations }, (_, number) => [`chaos-${number}`, "its turn"]));
  const talks = [...open.keys()].map(async (id) => {
    await pause(chance.int(0, seconds * 500));
    talked.push(await talk(servers, { id, chance, isOver, waitsFor: (what) => void open.set(id, what) }));
    open.delete(id);
  });
  const done = new Map<string, number>();
  while (!isOver()) {
    await pause(chance.int(200, 1500));
    const what = await servers.disturb();
    done.set(what, (done.get(what) ?? 0) + 1);
  }
  await servers.mend();
  const calm = until("every conversation is at rest", () => open.size === 0, calmMsMax);
  await Promise.race([Promise.all(talks), calm.catch((error) => assert.fail(`${error}\n${waiting(open)}`))]);
  const { verdict, wrong } = await judge(servers, talked);
  console.log(`chaos: ${JSON.stringify(Object.fromEntries(done))} ${JSON.stringify(verdict)}`);
  assert.deepEqual({ wrong, faults: servers.faults }, { wrong: [], faults: [] });
  assert.ok(verdict.turns > 0 && verdict.signed > 0);
});

function waiting(open: ReadonlyMap<string, string>): string {
  return [...open].map(([id, what]) => `${id} waits for ${what}`).join("\n");
}
