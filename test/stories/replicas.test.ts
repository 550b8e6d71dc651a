import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { folded } from "../world/chat.ts";
import { until } from "../world/events.ts";
import { modelServer, says } from "../world/model-server.ts";
import { playedProvider, sandboxOver } from "../world/played-provider.ts";
import { onPostgres as test } from "../world/postgres-server.ts";
import { openBrowser, signInServer } from "../world/sign-in-service.ts";
import { type OneOfTwo, startTwo, type TwoYards } from "../world/two-yards.ts";
import { must, openReplica } from "../world/yard.ts";

// Two processes on one database. Every conversation is at home in one of them; whoever comes to the other notices nothing.

const long = Array.from({ length: 40 }, (_, index) => `word${index}`).join(" ");

/** A conversation that is at home in this process. */
async function startAt({ client, peers, yard }: OneOfTwo): Promise<string> {
  const { id } = await must(client.call("createConversation", { body: {} }));
  const row = await must(yard.log.find(localOwner, id));
  assert.deepEqual(await peers.homes.homeOf(`c:${row.number}`), { isHere: true });
  return id;
}

/** Says something at one of them, and waits there until it is answered. */
async function answerAt({ client }: OneOfTwo, id: string, text: string): Promise<string> {
  await must(client.call("sendMessage", { params: { id }, body: { text } }));
  return restAt({ client }, id);
}

async function restAt({ client }: Pick<OneOfTwo, "client">, id: string, turn = 1): Promise<string> {
  const stop = new AbortController();
  let said = "";
  for await (const frame of client.follow(id, { after: 0, signal: stop.signal })) {
    if (frame.frame !== "event") continue;
    if (frame.event.type === "message.assistant") said = frame.event.text;
    if (frame.event.type === "turn.finished" && frame.event.turn === turn) break;
  }
  stop.abort();
  return said;
}

test("a chat that is at home in one server is streamed, read on, stopped and answered through the other [N1][C3]", async () => {
  await using model = await modelServer(() => ({ text: long, paceMs: 5 }));
  await using two = await startTwo({ model });
  const { one, other } = two;
  const id = await startAt(one);

  const begun = await other.stream({ query: "hi", conversation_id: id });
  const first: unknown[] = [];
  for await (const frame of begun.frames) {
    first.push(frame);
    if (JSON.stringify(frame).includes("word9")) break;
  }
  begun.leave();
  // Read on at either of them: it is one answer.
  for (const at of [one, other]) {
    const resumed = await at.stream({ conversation_id: id }, { path: "chat/resume" });
    const frames: unknown[] = [];
    for await (const frame of resumed.frames) frames.push(frame);
    assert.match(JSON.stringify(folded(frames)), /word39/);
  }
  assert.equal(model.asked.length, 1);

  model.answerWith(() => ({ text: "never", fault: { after: 3, kind: "stall" } }));
  await must(other.client.call("sendMessage", { params: { id }, body: { text: "again" } }));
  await until("it is being answered", () => model.asked.length === 2);
  await must(other.client.call("cancelTurn", { params: { id } }));
  await restAt(other, id, 2);
  const { status } = await must(one.client.call("getState", { params: { id } }));
  assert.equal(status, "idle");

  model.answerWith(() => says("of the other"));
  assert.equal(await answerAt(one, await startAt(other), "hi"), "of the other");
});

test("an event stream that broke off at one server is taken up at the other, without a gap and without a word twice [N1][C3]", async () => {
  // Ten words for each reader, and no end before the last one has them all: on a busy machine, too, nobody comes too late.
  const turns = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
  const heldAt = (part: number) => turns[Math.floor((part - 1) / 10)]?.promise;
  await using model = await modelServer(() => ({ text: long, paceMs: 5, heldAt }));
  await using two = await startTwo({ model });
  const { one, other } = two;
  const id = await startAt(one);
  await must(one.client.call("sendMessage", { params: { id }, body: { text: "hi" } }));
  let text = "";
  let lastId = "";
  const path = `/api/v1/conversations/${id}/stream`;
  const readers = [
    [one, /word5/],
    [other, /word15/],
    [one, /word25/],
    [other, /word39/],
  ] as const;
  for (const [index, [at, isEnough]] of readers.entries()) {
    turns[index]?.resolve();
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(60_000)]);
    const headers = lastId === "" ? {} : { "last-event-id": lastId };
    const response = await fetch(`${at.address}${path}`, { headers, signal });
    assert.equal(response.status, 200);
    for await (const { id: place, data } of eventsOf(response)) {
      lastId = place ?? lastId;
      if (data.frame === "delta") text += String(data.text);
      if (isEnough.test(text)) break;
    }
    stop.abort();
  }
  turns[4]?.resolve();
  assert.equal(text.trim(), long);
});

async function* eventsOf(response: Response) {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const [, id] = /^id: (.*)$/m.exec(block) ?? [];
      const [, data = "{}"] = /^data: (.*)$/m.exec(block) ?? [];
      const parsed: Readonly<Record<string, unknown>> = JSON.parse(data);
      yield { id, data: parsed };
    }
  }
}

test("a file that is too large is refused by the server that has the conversation before any of it was sent to the other [N1][F4]", async () => {
  await using two = await startTwo();
  const id = await startAt(two.one);
  const url = `${two.other.address}/api/v1/conversations/${id}/files/uploads/a.csv`;
  const headers = { "content-type": "application/octet-stream", "content-length": String(10 ** 13) };
  const announced = request(url, { method: "PUT", headers });
  announced.on("error", () => {}).flushHeaders();
  const [answer] = await once(announced, "response");
  assert.equal(answer.statusCode, 413);
  announced.destroy();
});

// Two processes on one database, and who comes in: a load balancer sends each request of a browser to any of them.

test("who begins to sign in through a service at one process comes back at the other, and people of one name stay two [N1][C6]", async (t) => {
  const service = await signInServer({ s1: { preferred_username: "ann" }, s2: { preferred_username: "ann" } });
  t.after(() => service.close());
  const { issuer, secret: clientSecret } = service;
  const about = { clientId: "agentyard", name: "Example", addsUsers: true, scopes: ["profile"] };
  await using two = await startTwo({ server: { oidc: { issuer, clientSecret, ...about } } });
  const { one, other } = two;
  const callback = `${one.address}/sign-in/oidc/callback`;
  service.serve(callback);
  const begun = async (person: string) => {
    service.person = person;
    const browser = openBrowser();
    const { url } = await browser.go(`${one.address}/sign-in/oidc?next=/api/v1/me`, { stop: callback });
    return { browser, url };
  };
  const [first, second] = [await begun("s1"), await begun("s2")];
  const arrived = await Promise.all([
    first.browser.go(first.url.replace(one.address, other.address)),
    second.browser.go(second.url),
  ]);
  assert.deepEqual(
    arrived.map(({ status }) => status),
    [200, 200],
  );
  const ids = arrived.map(({ text }) => JSON.parse(text).user.id);
  assert.deepEqual(ids.toSorted(), ["ann", "ann-2"]);
  assert.equal((await must(one.client.call("listUsers"))).items.length, 2);
});

test("who signs out at one process is signed out at both, also where that is handed on without their cookie [N1][C6]", async () => {
  await using two = await startTwo();
  const password = "a good password";
  await must(two.one.client.call("addUser", { body: { id: "ann", password } }));
  for (const { address } of [two.one, two.other]) {
    const here = { origin: address, "content-type": "application/json" };
    const body = JSON.stringify({ user: "ann", password });
    const signed = await fetch(`${address}/api/v1/sign-in`, { method: "POST", headers: here, body });
    const cookie = (signed.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const me = async () =>
      Promise.all(
        [two.one, two.other].map(
          async (place) => (await fetch(`${place.address}/api/v1/me`, { headers: { cookie } })).status,
        ),
      );
    assert.deepEqual(await me(), [200, 200]);
    const out = await fetch(`${address}/api/v1/sign-out`, { method: "POST", headers: { ...here, cookie } });
    assert.deepEqual([out.status, await me()], [204, [401, 401]]);
  }
});

test("a stream at one process ends when its key is taken away at the other, and so does one that was handed on [N1][C6]", async () => {
  await using two = await startTwo();
  const { one, other } = two;
  await must(one.client.call("addUser", { body: { id: "ann" } }));
  const { key, id } = await must(one.client.call("addKey", { params: { user: "ann" }, body: { scopes: ["chat"] } }));
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const made = await one.send("POST", "/api/v1/conversations", { headers, body: "{}" });
  assert.equal(made.status, 201, made.text);
  const followed = [one, other].map(({ address }) =>
    fetch(`${address}/api/v1/conversations/${made.json.id}/stream`, { headers }),
  );
  const readers = (await Promise.all(followed)).map((response) => {
    assert.equal(response.status, 200);
    return response.body?.getReader();
  });
  for (const reader of readers) await reader?.read();
  await must(other.client.call("removeKey", { params: { user: "ann", key: id } }));
  const ended = readers.map(async (reader) => {
    for (;;) if ((await reader?.read())?.done !== false) return;
  });
  await Promise.allSettled(ended);
  assert.equal((await fetch(`${other.address}/api/v1/me`, { headers })).status, 401);
});

// Programs of several processes on one database: what runs in one of them is not over because another one begins or ends.

test("a program runs on where it runs, whichever other process begins or ends meanwhile [N1][X4]", async (t) => {
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

test("a program of a conversation is stopped where it runs, whichever server is asked [N1][X2]", async () => {
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
