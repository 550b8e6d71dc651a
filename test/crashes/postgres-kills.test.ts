import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { until } from "../world/events.ts";
import { inLanes } from "../world/lanes.ts";
import { calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { cutAtCommit } from "../world/postgres-doubles.ts";
import { cannotStore, postgresServer, startPostgres } from "../world/postgres-server.ts";
import { must, startYard } from "../world/yard.ts";
import type { Order } from "./kill-child.ts";
import {
  finish,
  firstOfEachKind,
  headsOf,
  inFolders,
  type KillPlace,
  killAtEach,
  placesIn,
  runChild,
  type Told,
} from "./killed.ts";
import type { Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";

/** `npm run torture`: after every single write of each scenario. Else at a few places. */
const isEvery = process.env.AGENTYARD_DATABASE_KILLS === "every";

/** Each is another reason to go on: a message, a call of which nobody knows whether it ran, a decision, an end, other agents. */
const few: readonly Chosen[] = [
  { scenario: "threeTurns", after: ["message.user", "call.started", "turn.finished"] },
  { scenario: "decisions", after: ["decision.made"] },
  { scenario: "smallCompany", after: ["agent.spawned", "agent.mailed"] },
];
const besides = [
  ...(["handOff", "roomAndUndo", "fullWindow", "branchAndDelete", "functionOfTheCaller"] as const),
  ...(["uploads", "secondThoughts", "circles"] as const),
];
const played = [...few, ...(isEvery ? besides.map((scenario) => ({ scenario, after: [] })) : [])];

type Chosen = { readonly scenario: keyof typeof scenarios; readonly after: readonly string[] };

test("a real process on PostgreSQL, killed after a few kinds of writes (after every single one in `npm run torture`): everything goes on, agents as well, and nothing acknowledged is lost [N1][L2][H1][A1][Q2]", {
  skip: cannotStore,
}, async (t) => {
  const server = await postgresServer();
  await using stack = new AsyncDisposableStack();
  const places: Killed[] = [];
  let writes = 0;
  for (const { scenario, after } of played) {
    const { url: modelUrl } = stack.use(await modelServer(scenarios[scenario].answer));
    const place = { modelUrl, database: server.newPlace() };
    const whole = await inFolders(1, ([data = ""]) => finish(scenarios[scenario], { ...place, data }));
    const all = placesIn(whole.writes).map((killAfter) => ({ scenario, modelUrl, killAfter, expected: whole.outcome }));
    writes += all.length;
    const chosen = firstOfEachKind(all).filter(({ killAfter: { write } }) => after.includes(write));
    places.push(...(isEvery ? all : chosen));
  }
  const run = (chosen: readonly Killed[]) =>
    inFolders(chosen.length, async (folders) => {
      const order = chosen.map(({ expected: _, ...place }, index) => ({
        ...{ ...place, data: folders[index] ?? "", database: server.newPlace() },
      }));
      const { signal, told } = await runChild(order);
      const isReached = order.map(({ data }) => told.some(({ yard, last }) => yard === data && last !== undefined));
      // Where no place was reached, there is nothing to kill: it is looked for again.
      assert.equal(signal, isReached.includes(true) ? "SIGKILL" : null);
      await inLanes(chosen, (place, index) => goOn(place, order[index] ?? assert.fail(), told));
      return isReached;
    });
  await killAtEach(places, { run, labelOf });
  t.diagnostic(`${places.length} kills of ${writes} writes`);
});

type Killed = Pick<Order[number], "modelUrl" | "scenario"> & {
  readonly killAfter: KillPlace;
  readonly expected: unknown;
};

const labelOf = ({ scenario, killAfter: { write, times } }: Killed) => `${scenario}, after ${write} ${times}`;

async function goOn(place: Killed, ordered: Order[number], told: readonly Told[]): Promise<void> {
  const scenario: Scenario = scenarios[place.scenario];
  const { data, database, modelUrl } = ordered;
  try {
    const own = told.filter(({ yard }) => yard === data);
    const { outcome } = await finish(scenario, { data, database, modelUrl }, headsOf(...own));
    if (scenario.check === undefined) assert.deepEqual(outcome, place.expected);
    else scenario.check(outcome);
  } catch (error) {
    throw new Error(labelOf(place), { cause: error });
  }
}

test("a database server that goes away in the middle of a turn: callers hear of it, and the turn goes on by itself when it is back [N1][Q2]", {
  skip: cannotStore,
}, async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  let runs = 0;
  const cut = defineTool({
    ...{ name: "cut", description: "Ends the server.", class: "pure", input: z.object({}) },
    async run() {
      runs += 1;
      if (runs === 1) await server.stop();
      return ok({ text: "cut" });
    },
  });
  await using model = await modelServer((request) => (stepOf(request) === 0 ? calls(["cut", {}]) : says("it is back")));
  const env = { AGENTYARD_DATABASE_URL: server.newPlace(), AGENTYARD_DATABASE_AWAY_SECONDS_MAX: "0" };
  await using yard = await startYard({ model, env, tools: [cut] });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  await must(yard.client.call("sendMessage", { params: { id }, body: { text: "cut it", mode: "queue" } }));
  await until("nothing more could be stored", async () =>
    (await yard.faults()).some((line) => /left open|not be stored/.test(line)),
  );
  await until("callers hear of it", async () => {
    const refused = await yard.client.call("listConversations", { query: {} });
    return !refused.ok && refused.failure.code === "database_away";
  });
  await server.start();
  const { answer, outcome, events } = await yard.whenAtRest(id);
  assert.deepEqual({ answer, outcome }, { answer: "it is back", outcome: "done" });
  assert.equal(events.filter(({ type }) => type === "call.finished").length, 1);
});

test("a commit whose answer is lost in the middle of a turn: the log says whether it was done, and the turn goes on from there [N1][L2]", {
  skip: cannotStore,
}, async (t) => {
  const server = await postgresServer();
  const cut = await cutAtCommit(t, server.folder);
  let runs = 0;
  const lose = defineTool({
    ...{ name: "lose", description: "Cuts the next commit.", class: "idempotent", input: z.object({}) },
    async run() {
      runs += 1;
      cut.begin();
      return ok({ text: "done" });
    },
  });
  await using model = await modelServer((request) =>
    stepOf(request) === 0 ? calls(["lose", {}]) : says("all is there"),
  );
  const env = { AGENTYARD_DATABASE_URL: server.newPlace().replace(server.folder, cut.folder) };
  await using yard = await startYard({ model, env, tools: [lose] });
  const { answer, outcome, events } = await yard.ask("lose it");
  assert.deepEqual({ answer, outcome, runs }, { answer: "all is there", outcome: "done", runs: 1 });
  const finished = events.filter(({ type }) => type === "call.finished");
  assert.deepEqual(
    finished.map((event) => "outcome" in event && event.outcome),
    ["ok"],
  );
  assert.ok((await yard.faults()).some((line) => /could not be stored/.test(line)));
});
