import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { until } from "../world/events.ts";
import { calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { cutAtCommit } from "../world/postgres-doubles.ts";
import { cannotStore, postgresServer } from "../world/postgres-server.ts";
import { must, startYard } from "../world/yard.ts";
import { finish, headsOf, inFolders, runChild } from "./killed.ts";
import { threeTurns } from "./scenarios/three-turns.ts";

/** Every fifth write is one after which the process is killed. */
const kills = 6;
const writesBetween = 5;

test("on PostgreSQL, too: whenever the process is killed, the conversation goes on and nothing acknowledged is lost [N1][L2][Q2]", {
  skip: cannotStore,
}, async () => {
  const server = await postgresServer();
  await using model = await modelServer(threeTurns.answer);
  await inFolders(kills, async (folders) => {
    const places = folders.map((data) => ({ data, modelUrl: model.url, database: server.newPlace() }));
    const { signal, told } = await runChild(
      places.map((place, index) => ({
        ...{ scenario: "threeTurns", ...place },
        killAfter: { times: 1 + index * writesBetween },
      })),
    );
    assert.equal(signal, "SIGKILL");
    assert.equal(told.filter(({ last }) => last !== undefined).length, kills, "each of them came to its write");
    for (const place of places) {
      const own = told.filter(({ yard }) => yard === place.data);
      const { outcome } = await finish(threeTurns, place, headsOf(...own));
      threeTurns.check(outcome);
    }
  });
});

test("a server of databases that goes away in the middle of a turn: callers hear of it, and the turn goes on by itself when it is back [N1][Q2]", {
  skip: cannotStore,
}, async () => {
  const server = await postgresServer();
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
  const refused = await yard.client.call("listConversations", { query: {} });
  assert.equal(refused.ok || refused.failure.code, "database_away");
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
