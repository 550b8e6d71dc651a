import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { type App, listen } from "../../src/http/http.ts";
import { Problem } from "../../src/protocol/resources.ts";
import { peopledYard } from "../world/callers.ts";
import { onPort } from "../world/http-reading.ts";
import { manualClock } from "../world/manual-clock.ts";
import { send } from "../world/raw-http.ts";
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

test("whoever leaves a backup in the middle does not bring the server down [Q1][Q3]", async () => {
  await using yard = await startYard();
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  // Of this size it is read piece by piece, and somebody can leave between two of them.
  await must(yard.client.upload(id, "a.txt", Buffer.alloc(5 * 1024 ** 2, "a line of text\n")));
  for (let pieces = 1; pieces <= 21; pieces += 10) {
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

test("a stranger who sends a body drop by drop is told after half a minute, and the connection ends [C6][Q1]", async () => {
  const clock = manualClock();
  await using yard = await peopledYard();
  await yard.keyOf("ann");
  await using door = await openDoor(yard.app, clock);
  for (const path of ["/api/v1/sign-in", "/sign-in"]) {
    const socket = await door.begin(`POST ${path}`);
    clock.move(29_999);
    socket.write(" ");
    assert.equal(socket.destroyed, false);
    const rest = text(socket);
    clock.move(1);
    const [head = "", body = ""] = (await rest).split("\r\n\r\n");
    assert.match(head, /^HTTP\/1\.1 408 Request Timeout\r\ncontent-type: application\/problem\+json/);
    assert.deepEqual([JSON.parse(body).code, JSON.parse(body).params], ["request_unreadable", { why: "slow" }]);
  }
});

test("whoever is known may take longer over a slow line [C6]", async () => {
  const clock = manualClock();
  await using yard = await peopledYard();
  const key = await yard.keyOf("ann");
  await using door = await openDoor(yard.app, clock);
  const headers = `authorization: Bearer ${key}\r\nconnection: close\r\n`;
  const socket = await door.begin("POST /api/v1/conversations", headers);
  await door.given;
  clock.move(600_000);
  socket.write(`${" ".repeat(98)}}`);
  assert.match(await text(socket), /^HTTP\/1\.1 201 /);
});

test("whoever is refused before the body is read does not hold the connection [C6][Q1]", async () => {
  await using yard = await peopledYard();
  await yard.keyOf("ann");
  await using door = await openDoor(yard.app, systemClock);
  for (const [wanted, length, status] of [
    ["POST /api/v1/conversations", 30_000_000, 401],
    ["POST /api/v1/sign-in", 30_000_000, 413],
  ] as const) {
    const socket = await door.begin(wanted, "", length);
    // It ends from the other side: nothing more is sent from here.
    assert.match(await text(socket), new RegExp(`^HTTP/1.1 ${status} `));
  }
});

test("an answer that nobody takes ends with its connection, and one that takes long to make does not [C6][Q1]", async () => {
  const [large, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const app = {
    async fetch(request: Request, door: Parameters<App["fetch"]>[1] = {}) {
      if (request.url.endsWith("/late")) {
        await late.promise;
        return new Response("late");
      }
      if ("onEnd" in door) door.onEnd?.(large.resolve);
      return new Response("x".repeat(64 * 1024 * 1024));
    },
  };
  const server = await listen(app, { host: "127.0.0.1", port: 0 }, { clock: systemClock, silenceMsMax: 500 });
  assert.ok(server.ok);
  const { port } = new URL(server.value.address);
  const asked = (path: string) => {
    const socket = connect({ port: Number(port), host: "127.0.0.1" });
    socket.write(`GET ${path} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n`);
    return socket;
  };
  const patient = text(asked("/late"));
  const unread = asked("/large");
  await large.promise;
  late.resolve();
  assert.match(await patient, /\r\n\r\nlate$/);
  unread.destroy();
  await server.value.close();
});

async function openDoor(app: App, clock: Parameters<typeof listen>[2]["clock"]) {
  const given = Promise.withResolvers<void>();
  const watched: App = Object.create(app, {
    fetch: {
      value: (request: Request, door: { giveTime?: () => void }) =>
        app.fetch(request, {
          ...door,
          giveTime: () => {
            door.giveTime?.();
            given.resolve();
          },
        }),
    },
  });
  const server = await listen(watched, { host: "127.0.0.1", port: 0 }, { clock });
  assert.ok(server.ok);
  const { port, host } = new URL(server.value.address);
  return {
    given: given.promise,
    /** The head of a request and the first byte of its body, once the server has begun with it. */
    async begin(wanted: string, more = "", length = 100): Promise<Socket> {
      const socket = connect({ port: Number(port), host: "127.0.0.1" });
      const told = `content-type: application/json\r\ncontent-length: ${length}\r\nexpect: 100-continue\r\n`;
      socket.write(`${wanted} HTTP/1.1\r\nhost: ${host}\r\n${told}${more}\r\n`);
      const [first] = await once(socket, "data");
      assert.match(String(first), /^HTTP\/1\.1 100 Continue/);
      // What came with it is put back for whoever reads on.
      const rest = Buffer.from(first).subarray("HTTP/1.1 100 Continue\r\n\r\n".length);
      if (rest.length > 0) socket.unshift(rest);
      socket.write("{");
      return socket;
    },
    [Symbol.asyncDispose]: server.value.close,
  };
}
