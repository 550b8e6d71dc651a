import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { test } from "node:test";
import { makeFailure } from "../../src/protocol/failure.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { type Storage, StorageAway } from "../../src/storage/storage.ts";
import { folded } from "../world/chat.ts";
import { until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { cannotStore } from "../world/postgres-server.ts";
import { effectTool } from "../world/tools.ts";
import { type OneOfTwo, startTwo } from "../world/two-yards.ts";
import { must } from "../world/yard.ts";

// Two processes on one database. Every conversation is at home in one of them; whoever comes to the other notices nothing.

const needed = { skip: cannotStore };
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

test("a chat that is at home in one server is streamed, read on, stopped and answered through the other [N1][C3]", {
  ...needed,
}, async () => {
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

test("an event stream that broke off at one server is taken up at the other, without a gap and without a word twice [N1][C3]", {
  ...needed,
}, async () => {
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

test("what a turn asks for is seen and decided at either server [N1][H2]", { ...needed }, async (t) => {
  const marks = `${t.name.length}`;
  await using model = await modelServer([calls(["pay", { mark: "a" }]), says("paid")]);
  await using two = await startTwo({ model, tools: [effectTool("pay", "unsafe", `/dev/null`, { asks: true })] });
  const { one, other } = two;
  const id = await startAt(one);
  await must(other.client.call("sendMessage", { params: { id }, body: { text: `pay ${marks}` } }));
  const stop = new AbortController();
  for await (const frame of other.client.follow(id, { after: 0, signal: stop.signal }))
    if (frame.frame === "event" && frame.event.type === "decision.asked") break;
  stop.abort();
  const { items } = await must(other.client.call("listDecisions", {}));
  const [decision] = items;
  assert.equal(decision?.conversation, id);
  await must(
    other.client.call("decide", { params: { id, decision: decision?.id ?? "" }, body: { verdict: "approve" } }),
  );
  assert.equal(await restAt(one, id), "paid");
});

test("who follows a conversation at a server that others took for gone goes on with what they stored meanwhile [N1][C3]", {
  ...needed,
}, async () => {
  const storages: Storage[] = [];
  const wrapStorage = (storage: Storage) => {
    storages.push(storage);
    return storage;
  };
  await using model = await modelServer(() => says("of the other"));
  await using two = await startTwo({ model, wrapStorage });
  const { one, other } = two;
  const id = await startAt(one);
  const { number } = await must(one.yard.log.find(localOwner, id));
  const { homes } = other.peers;
  const takeOver = async () => {
    await storages[1]?.bury(one.peers.homes.server);
    homes.doubt(one.peers.homes.server);
    return (await homes.homeOf(`c:${number}`)).isHere;
  };
  const seen: string[] = [];
  for await (const frame of one.client.follow(id, { after: 0, signal: AbortSignal.timeout(120_000) })) {
    if (frame.frame === "caught_up" && seen.length === 0) {
      await until("the other one has it", takeOver);
      await must(other.client.call("sendMessage", { params: { id }, body: { text: "hi" } }));
    }
    if (frame.frame === "event") seen.push(frame.event.type);
    if (seen.at(-1) === "turn.finished") break;
  }
  const stored = await other.yard.log.read(number, { after: 0, limit: 100 });
  assert.deepEqual(
    seen,
    stored.map(({ type }) => type),
  );
  assert.equal(seen.at(-1), "turn.finished");
});

test("a database that goes away while a server starts, or looks for what another one left costs none of it [N1][L2][Q2]", {
  ...needed,
  timeout: 300_000,
}, async () => {
  const away = new StorageAway(makeFailure("storage_busy", {}), undefined);
  let looks = Number.NEGATIVE_INFINITY;
  const asked: number[] = [];
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    dueWakes: (limit, server) => (asked.push(limit) === 1 ? Promise.reject(away) : storage.dueWakes(limit, server)),
    async conversationByNumber(number) {
      looks += 1;
      if (looks === 2) throw away;
      return storage.conversationByNumber(number);
    },
  });
  await using model = await modelServer(() => ({ text: "never", fault: { after: 3, kind: "stall" } }));
  await using two = await startTwo({ model, wrapStorage });
  const { one, other } = two;
  // At its start it cannot ask either: that keeps it from nothing.
  const recovered = await other.yard.engine.recover({ ageMsMax: Number.MAX_SAFE_INTEGER });
  assert.deepEqual(recovered, { resumed: 0, older: [] });
  const ids = [await startAt(one), await startAt(one), await startAt(one)];
  for (const id of ids) await must(one.client.call("sendMessage", { params: { id }, body: { text: "hi" } }));
  await until("all are being answered", () => model.asked.length === ids.length);
  model.answerWith(() => says("of the other"));
  looks = 0;
  await one.close();
  for (const id of ids) assert.equal(await restAt(other, id), "of the other");
  assert.ok(looks > 2);
});

test("a file that is too large is refused by the server that has the conversation before any of it was sent to the other [N1][F4]", {
  ...needed,
}, async () => {
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

test("cleaning up moves what nobody used, wherever its conversation is at home, and says how much it was [N1][W10]", {
  ...needed,
}, async () => {
  await using two = await startTwo();
  const { one, other } = two;
  const ids = [await startAt(one), await startAt(other), await startAt(other)];
  for (const id of ids) assert.ok((await one.client.upload(id, "a.txt", Buffer.from("12345"))).ok);
  const cleaned = { workspaces: 0, bytes: 0 };
  // What is younger than a moment counts as used.
  await until("all of it is moved", async () => {
    const { workspaces, bytes } = await must(one.client.call("cleanWorkspaces", { body: { days: 0 } }));
    cleaned.workspaces += workspaces;
    cleaned.bytes += bytes;
    return cleaned.workspaces === ids.length;
  });
  assert.equal(cleaned.bytes, 5 * ids.length);
  const { items } = await must(other.client.call("listTrash", {}));
  assert.deepEqual(items.map(({ conversation }) => conversation).sort(), ids.sort());
});
