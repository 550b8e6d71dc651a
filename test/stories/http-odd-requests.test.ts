import assert from "node:assert/strict";
import { test } from "node:test";
import { failed } from "../../src/base/result.ts";
import { makeFailure } from "../../src/protocol/failure.ts";
import { Problem } from "../../src/protocol/resources.ts";
import { send } from "../world/fuzz-send.ts";
import { onPort } from "../world/http-reading.ts";
import { must, startYard } from "../world/yard.ts";

// What the fuzz of all routes has found once, each by itself.

const json = { "content-type": "application/json" };

test("a body that is nested without end is refused, also where nobody looks into it [Q1][P4]", async () => {
  await using yard = await startYard();
  const nested = (levels: number) => `{"title":"t","more":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  const ask = async (path: string, body: string, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await yard.fetch(`http://localhost${path}`, {
      method: "POST",
      headers: { ...json, ...headers },
      body,
    });
    return [answer.status, await answer.text()] as const;
  };
  const conversations = "/api/v1/conversations";
  for (const levels of [200, 60_000]) {
    const [status, text] = await ask(conversations, nested(levels), { "idempotency-key": `deep-${levels}` });
    assert.deepEqual(
      [status, JSON.parse(text).detail],
      [400, "The request does not fit: body. No more than 200 lists and objects stand within each other."],
    );
  }
  assert.equal((await ask(conversations, nested(199), { "idempotency-key": "deep" }))[0], 201);
  assert.equal(
    (await ask(conversations, JSON.stringify({ title: '["[{\\'.repeat(40), more: "[".repeat(9_000) })))[0],
    201,
  );
  const chat = "/api/agent-app/v1/app/general/chat/completion";
  const [status, text] = await ask(
    chat,
    `{"query":"hello","custom_querys":{"a":${"[".repeat(60_000)}${"]".repeat(60_000)}}}`,
  );
  assert.deepEqual([status, JSON.parse(text).error_code], [400, "AgentAPP.InvalidParameter.RequestBody"]);
});

test("a body of very many small things is refused before it is read, and one of as many as may be is taken [Q1][C6]", async () => {
  await using yard = await startYard();
  await yard.start("c");
  const say = async (more: string) => {
    const init = { method: "POST", headers: json, body: `{"text":"hello","more":${more}}` };
    const answer = await yard.app.request("/api/v1/conversations/c/messages", init);
    return answer.ok ? answer.status : Problem.parse(await answer.json()).detail;
  };
  // Besides them there are the body itself, its text and the list.
  const list = (values: number) => `[${"1,".repeat(values - 4)}1]`;
  const object = (names: number) => `{${Array.from({ length: names - 2 }, (_, at) => `"${at}":1`).join(",")}}`;
  const refused =
    "The request does not fit: body. It has no more than 600,000 values, and no more than 150,000 names of members.";
  assert.deepEqual([await say(list(600_000)), await say(list(600_001))], [202, refused]);
  assert.deepEqual([await say(object(150_000)), await say(object(150_001))], [202, refused]);
  const quoted = JSON.stringify('\\"[{,:\\\\'.repeat(200_000));
  assert.equal(await say(quoted), 202, "what stands in quotes is one value");
});

test("a request whose address or host cannot be read is refused in the same shape as all others [Q1][P4]", async () => {
  await using yard = await startYard();
  await using door = await onPort(yard);
  const { port, host } = new URL(door.url);
  const ask = async (target: string, ...hosts: string[]) => {
    const headers = [...hosts.map((one) => ["host", one] as const), ["connection", "close"] as const];
    const answer = await send(Number(port), { method: "GET", target, headers, body: new Uint8Array() });
    const { code, params } = JSON.parse(answer.body.toString());
    return [answer.status, answer.headers.get("content-type"), code, params.why];
  };
  const refused = [400, "application/problem+json", "request_unreadable", "syntax"];
  for (const odd of ["a@b", "evil.example#x", "", "127.0.0.1, evil.example", "a b"])
    assert.deepEqual(await ask("/api/v1/conversations", odd), refused, odd);
  assert.deepEqual(await ask("/api/v1/conversations"), refused, "no host at all");
  assert.deepEqual(await ask("/\\evil.example", host), refused);
});

test("a body that breaks off is told as that, though nobody may read it any more [Q1][P4]", async () => {
  await using yard = await startYard();
  const cut = new ReadableStream({
    pull(controller) {
      controller.enqueue(Buffer.from('{"id":'));
      controller.error(new Error("the sender has gone"));
    },
  });
  const headers = { "content-type": "application/json" };
  const sent: RequestInit & { duplex: "half" } = { method: "POST", headers, body: cut, duplex: "half" };
  const { code, params } = Object(await (await yard.app.request("/api/v1/conversations", sent)).json());
  assert.deepEqual([code, params], ["request_unreadable", { why: "broken_off" }]);
});

test("an expectation that nobody knows is no reason to refuse a request without a word [Q1]", async () => {
  await using yard = await startYard();
  await using door = await onPort(yard);
  const { port, host } = new URL(door.url);
  const headers = [
    ["host", host],
    ["connection", "close"],
    ["expect", "something"],
  ] as const;
  const answer = await send(Number(port), {
    method: "GET",
    target: "/api/v1/conversations",
    headers,
    body: new Uint8Array(),
  });
  assert.deepEqual([answer.status, JSON.parse(answer.body.toString())], [200, { items: [], next: null }]);
});

test("whatever may be otherwise in a moment says when to come again, also where nobody knows when [Q1][P4]", async () => {
  for (const [code, status] of [
    ["storage_busy", 503],
    ["storage_full", 507],
  ] as const) {
    const full = failed(makeFailure(code, {}));
    await using yard = await startYard({
      wrapStorage: (storage) => ({ ...storage, createConversation: async () => full }),
    });
    const answer = await yard.fetch("http://localhost/api/v1/conversations", {
      method: "POST",
      headers: json,
      body: "{}",
    });
    assert.deepEqual([answer.status, answer.headers.get("retry-after")], [status, "5"]);
    await answer.body?.cancel();
  }
});

test("whoever leaves a backup in the middle does not bring the server down [Q1][Q3]", async () => {
  await using yard = await startYard();
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  // Of this size it is read piece by piece, and somebody can leave between two of them.
  await must(yard.client.upload(id, "a.txt", Buffer.alloc(5 * 1024 ** 2, "a line of text\n")));
  for (let pieces = 1; pieces <= 26; pieces += 3) {
    const leave = new AbortController();
    const backup = await must(yard.client.get("backup", { query: {} }, { signal: leave.signal }));
    const reader = backup.getReader();
    for (let read = 0; read < pieces; read += 1) await reader.read();
    await reader.cancel();
    leave.abort();
  }
  // A promise that nobody awaits ends the process in the next round, and this test with it.
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal((await must(yard.client.call("health", {}))).status, "ok");
});
