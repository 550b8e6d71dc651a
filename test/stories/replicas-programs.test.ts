import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { until } from "../world/events.ts";
import { playedProvider, sandboxOver } from "../world/played-provider.ts";
import { cannotStore } from "../world/postgres-server.ts";
import { startTwo, type TwoYards } from "../world/two-yards.ts";
import { must, openReplica } from "../world/yard.ts";

// Programs of several processes on one database: what runs in one of them is not over because another one begins or ends.

test("a program runs on where it runs, whichever other process begins or ends meanwhile [N1][X4]", {
  skip: cannotStore,
}, async (t) => {
  const provider = playedProvider();
  const options = sandboxOver(provider);
  await using two = await startTwo(options);
  const { one, other } = two;
  const begun = await one.send("POST", "/api/v1/executions/sessions/sb-session-local/execute", {
    json: { code: "long", language: "python" },
  });
  assert.equal(begun.status, 201, begun.text);
  const { execution_id: id } = begun.json;
  const status = async () => (await one.send("GET", `/api/v1/executions/${id}/status`)).json.status;
  await until("it runs", async () => (await status()) === "running");

  const own = mkdtempSync(join(tmpdir(), "agentyard-third-"));
  t.after(() => rmSync(own, { recursive: true, force: true }));
  const { storage, secretKey = "" } = one.config;
  const shared = { AGENTYARD_DATABASE_URL: storage.database?.url ?? "", AGENTYARD_KEY: secretKey };
  const third = await openReplica(options, { own, shared, clock: systemClock });
  t.after(async () => {
    await third.yard.close();
    await third.peers.close();
    await third.logger.close();
  });
  await other.close();
  assert.equal(await status(), "running");
  for (const execution of provider.guests.flatMap(({ running }) => [...running.values()])) execution.finish();
  await until("it is done", async () => (await status()) === "completed");
  await one.close();
  const told = await third.yard.fetch(`http://third/api/v1/executions/${id}/status`, { method: "GET", headers: {} });
  assert.match(await told.text(), /"status":"completed"/);
});

test("what runs of a session that was stopped and made anew at another server ends when its server hears of it [N1][S1]", {
  skip: cannotStore,
}, async () => {
  const words = heldWords();
  await using two = await startTwo({ ...sandboxOver(playedProvider()), wrapStorage: words.wrapStorage });
  const { stateOf, replace } = await runningAtOther(two);
  words.hold();
  await replace();
  assert.equal(await stateOf(), "running");
  words.pass();
  await until("it is ended", async () => (await stateOf()) === "cancelled");
});

test("what runs of a session that was made anew elsewhere ends also where somebody used the new one before the word came [N1][S1]", {
  skip: cannotStore,
}, async () => {
  const words = heldWords();
  await using two = await startTwo({ ...sandboxOver(playedProvider()), wrapStorage: words.wrapStorage });
  const { files, stateOf, replace } = await runningAtOther(two);
  words.hold();
  await replace();
  const looked = await two.other.send("GET", files);
  assert.equal(looked.status, 200, looked.text);
  assert.equal(await stateOf(), "running");
  words.pass();
  await until("it is ended", async () => (await stateOf()) === "cancelled");
});

test("what runs of a session that was deleted and made anew elsewhere ends when its server hears of it [N1][S1]", {
  skip: cannotStore,
}, async () => {
  const words = heldWords();
  await using two = await startTwo({ ...sandboxOver(playedProvider()), wrapStorage: words.wrapStorage });
  await runningAtOther(two);
  words.hold();
  assert.equal((await two.one.send("DELETE", session)).status, 204);
  assert.equal((await two.one.send("POST", "/api/v1/sessions", { json: {} })).status, 201);
  words.pass();
  const health = () => two.other.send("GET", "/api/v1/health/detailed");
  await until("its guest is ended", async () => (await health()).text.includes('"guests":0'));
});

test("what runs of a session ends where the one that was made anew is used next, though its end was seen here before [N1][S1]", {
  skip: cannotStore,
}, async () => {
  const [words, sandboxes] = [heldWords(), [] as Sandbox[]];
  const { openSandbox } = sandboxOver(playedProvider());
  await using two = await startTwo({
    wrapStorage: words.wrapStorage,
    openSandbox: (place) => sandboxes[sandboxes.push(openSandbox(place)) - 1] ?? assert.fail(),
  });
  const { stateOf } = await runningAtOther(two);
  const { sessions } = sandboxes[1] ?? assert.fail();
  words.hold();
  assert.equal((await two.one.send("POST", `${session}/terminate`)).status, 200);
  assert.equal((await sessions.find(localOwner))?.status, "stopped");
  assert.equal((await two.one.send("POST", "/api/v1/sessions", { json: {} })).status, 201);
  assert.equal((await must(sessions.use(localOwner))).status, "running");
  await until("it is ended", async () => (await stateOf()) === "cancelled");
});

test("a program of a conversation is stopped where it runs, whichever server is asked [N1][X2]", {
  skip: cannotStore,
}, async () => {
  await using two = await startTwo(sandboxOver(playedProvider()));
  const { path, stateOf } = await runningAtOther(two);
  const stopped = await two.one.send("POST", `${path}/cancel`);
  assert.equal(stopped.status, 200, stopped.text);
  await until("it is ended", async () => (await stateOf()) === "cancelled");
});

const session = "/api/v1/sessions/sb-session-local";

/** A program in a conversation that is at home at the other server; the session of its user is at home at the first one. */
async function runningAtOther({ one, other }: TwoYards) {
  assert.deepEqual(await one.peers.homes.homeOf("u:local"), { isHere: true });
  const { id: conversation } = await must(other.client.call("createConversation", { body: {} }));
  const row = await must(other.yard.log.find(localOwner, conversation));
  assert.deepEqual(await other.peers.homes.homeOf(`c:${row.number}`), { isHere: true });
  const begun = await other.send("POST", "/api/v1/executions/sessions/sb-session-local/execute", {
    json: { code: "long", language: "python", conversation_id: conversation },
  });
  assert.equal(begun.status, 201, begun.text);
  const path = `/api/v1/executions/${begun.json.execution_id}`;
  const stateOf = async () => (await other.send("GET", `${path}/status`)).json.status;
  await until("it runs", async () => (await stateOf()) === "running");
  return {
    ...{ path, stateOf },
    files: `${session}/files?conversation_id=${conversation}`,
    async replace() {
      const stopped = await one.send("POST", `${session}/terminate`);
      assert.equal(stopped.status, 200, stopped.text);
      const made = await one.send("POST", "/api/v1/sessions", { json: {} });
      assert.equal(made.status, 201, made.text);
    },
  };
}

/** What servers tell each other waits, as on a line that is slow, and then comes in its order. */
function heldWords() {
  let isHeld = false;
  const held: (() => void)[] = [];
  return {
    wrapStorage: (storage: Storage): Storage => ({
      ...storage,
      onTold: (listener) => storage.onTold((told) => void (isHeld ? held.push(() => listener(told)) : listener(told))),
    }),
    hold() {
      isHeld = true;
    },
    pass() {
      isHeld = false;
      for (const tell of held.splice(0)) tell();
    },
  };
}
