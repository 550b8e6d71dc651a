import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { type PeopledYard, peopledYard } from "../world/callers.ts";
import { until } from "../world/events.ts";
import { modelServer, says } from "../world/model-server.ts";
import { must } from "../world/yard.ts";

// What is open under a key or a sign-in when that counts no more. Event streams: users-sign-in.test.ts.

const host = { host: "127.0.0.1:7420" };
const dayMs = 86_400_000;

/** Where another server has it, what is handed on is cut off at its socket, which knows no words. */
const brokenOff = process.env.AGENTYARD_TEST_REPLICAS === undefined ? /taken away/ : /taken away|aborted/;

test("downloads, archives and backups break off when the key behind them is taken away [C6][D4]", async () => {
  await using yard = await peopledYard();
  const kept = await yard.keyOf("ann", ["chat", "files", "admin"]);
  const lost = await yard.keyOf("ann", ["chat", "files", "admin"]);
  const made = await yard.call("POST /api/v1/conversations", { "x-api-key": kept, body: {} });
  const files = `/api/v1/conversations/${JSON.parse(made.text).id}/files`;
  // More than is on its way at once, also as an archive, and between two servers.
  const body = randomBytes(4_500_000).toString("base64");
  const headers = { ...host, "x-api-key": kept, "content-type": "application/octet-stream" };
  const address = `http://127.0.0.1:7420${files}/uploads/big.txt`;
  const put = await yard.app.fetch(new Request(address, { method: "PUT", headers, body }), tcp);
  assert.equal(put.status, 201, await put.text());

  const paths = [`${files}/content?path=uploads/big.txt`, `${files}/archive`, "/api/v1/backup"];
  const begun = async (key: string) =>
    Promise.all(
      paths.map(async (path) => {
        const reader = (await opened(yard, path, { "x-api-key": key })).getReader();
        assert.equal((await reader.read()).done, false, path);
        return { path, reader };
      }),
    );
  const [broken, whole] = [await begun(lost), await begun(kept)];
  await removeKey(yard, "ann", lost);
  for (const { path, reader } of broken) await assert.rejects(rest(reader), brokenOff, path);
  for (const { reader } of whole) await rest(reader);
});

test("calls and streams of an MCP client end when its key is taken away, and open nothing more [C6][G2]", async (t) => {
  const held = Promise.withResolvers<void>();
  t.after(() => held.resolve());
  await using model = await modelServer(() => ({ text: "late", heldUntil: held.promise }));
  await using yard = await peopledYard({}, { model });
  const key = await yard.keyOf("ann");
  const headers = {
    ...{ ...host, "x-api-key": key, accept: "application/json, text/event-stream" },
    ...{ "content-type": "application/json", "mcp-protocol-version": "2025-11-25" },
  };
  const ask = (method: string, body: unknown, more: Record<string, string> = {}) =>
    yard.app.fetch(
      new Request("http://127.0.0.1:7420/mcp", {
        ...{ method, headers: { ...headers, ...more } },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
      tcp,
    );
  const about = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "by hand", version: "1" } };
  const begun = await ask("POST", { jsonrpc: "2.0", id: 1, method: "initialize", params: about });
  const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
  await begun.text();
  const call = (name: string, input: object) =>
    ask("POST", { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name, arguments: input } }, session);
  const sent = await (await call("send_message", { text: "go", wait_seconds: 0 })).text();
  const conversation = /"conversation":"([^"]+)"/.exec(sent)?.[1] ?? assert.fail(sent);
  const open = [
    await call("wait_for_answer", { conversation, wait_seconds: 3_600 }),
    await ask("GET", undefined, session),
  ].map(({ status, body }) => {
    assert.equal(status, 200);
    return (body ?? assert.fail("a stream")).getReader();
  });
  const over = Promise.all(open.map((reader) => assert.rejects(rest(reader), brokenOff)));
  await removeKey(yard, "ann", key);
  await over;
  assert.equal((await call("list_conversations", {})).status, 401);
});

test("a stream ends with the key under which it was opened, at the minute of its end, and with the sign-in of a browser [C6][C3]", async () => {
  let [now, ends] = [0, new Map<() => void, number>()];
  const clock = {
    ...systemClock,
    now: () => now,
    after(ms: number, action: () => void) {
      if (ms < dayMs / 2) return systemClock.after(ms, action);
      ends.set(action, now + ms);
      return () => ends.delete(action);
    },
  };
  const move = (to: number) => {
    now = to;
    const due = [...ends].filter(([, at]) => at <= to).map(([action]) => action);
    ends = new Map([...ends].filter(([, at]) => at > to));
    for (const action of due) action();
  };
  await using yard = await peopledYard({ signInLastsMs: 2 * dayMs }, { clock });
  await yard.addUser({ id: "ann", password: "a good password" });
  const added = await must(yard.client.call("addKey", { params: { user: "ann" }, body: { name: "k", days: 1 } }));
  const here = { ...host, origin: "http://127.0.0.1:7420" };
  const body = { user: "ann", password: "a good password" };
  const signed = await yard.call("POST /api/v1/sign-in", { ...here, body });
  const cookie = (signed.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const made = await yard.call("POST /api/v1/conversations", { ...here, cookie, body: {} });
  const path = `/api/v1/conversations/${JSON.parse(made.text).id}/stream`;
  const follow = async (headers: Record<string, string>) => {
    const stream = await opened(yard, path, headers);
    const reading = { isOver: false };
    return Object.assign(reading, {
      over: rest(stream.getReader()).then(() => Object.assign(reading, { isOver: true })),
    });
  };
  const byKey = await follow({ "x-api-key": added.key ?? "" });
  const byCookie = await follow({ cookie });
  move(dayMs - 1);
  assert.equal(byKey.isOver, false);
  move(dayMs);
  await byKey.over;
  assert.equal(byCookie.isOver, false);
  // Used after a day, it has a new end.
  assert.equal((await yard.call("GET /api/v1/me", { cookie })).status, 200);
  await until("the stream has it, too", () => [...ends.values()].includes(3 * dayMs));
  move(2 * dayMs);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(byCookie.isOver, false);
  move(3 * dayMs);
  await byCookie.over;
  await until("nothing waits for an end any more", () => ends.size === 0);
});

test("a user has only so many streams open: none that came at once counts, nor another user's, and who leaves makes room [C6][Q1]", async () => {
  await using model = await modelServer([says("Hello.")]);
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async findConversation(owner, id) {
      if (id === "broken") throw new TypeError("a mistake of ours");
      return storage.findConversation(owner, id);
    },
  });
  await using yard = await peopledYard({}, { model, wrapStorage });
  const [ann, bob] = [await yard.keyOf("ann"), await yard.keyOf("bob")];
  const path = await streamPathOf(yard, ann);
  const streams = await openedTimes(999, yard, path, { "x-api-key": ann });
  const ask = async (agent: string) => {
    const body = { model: agent, messages: [{ role: "user", content: "hi" }], stream: agent === "general" };
    return (await yard.call("POST /v1/chat/completions", { "x-api-key": ann, body })).status;
  };
  assert.deepEqual([await ask("general"), await ask("nobody")], [200, 404], "an answer that is over, and a refusal");
  const broken = path.replace(/(?<=conversations\/)[^/]+/, "broken");
  assert.equal((await yard.call(`GET ${broken}`, { "x-api-key": ann })).code, "internal");
  streams.push(await opened(yard, path, { "x-api-key": ann }));
  const refused = async () => (await yard.call(`GET ${path}`, { "x-api-key": ann })).code;
  assert.deepEqual([await refused(), await ask("general")], ["streams_full", 429]);
  streams.push(await opened(yard, await streamPathOf(yard, bob), { "x-api-key": bob }));
  await streams.shift()?.cancel();
  streams.push(await opened(yard, path, { "x-api-key": ann }));
  assert.equal(await refused(), "streams_full");
  await Promise.all(streams.map((stream) => stream.cancel()));
});

const tcp = { door: "tcp", address: "127.0.0.1" } as const;

async function opened(
  yard: PeopledYard,
  path: string,
  headers: Record<string, string>,
): Promise<ReadableStream<Uint8Array>> {
  const request = new Request(`http://127.0.0.1:7420${path}`, { headers: { ...host, ...headers } });
  const response = await yard.app.fetch(request, tcp);
  assert.equal(response.status, 200, path);
  return response.body ?? assert.fail("an answer with a body");
}

async function openedTimes(times: number, ...wanted: Parameters<typeof opened>): Promise<ReadableStream<Uint8Array>[]> {
  const streams: ReadableStream<Uint8Array>[] = [];
  while (streams.length < times) streams.push(await opened(...wanted));
  return streams;
}

async function streamPathOf(yard: PeopledYard, key: string): Promise<string> {
  const made = await yard.call("POST /api/v1/conversations", { "x-api-key": key, body: {} });
  return `/api/v1/conversations/${JSON.parse(made.text).id}/stream`;
}

async function rest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  while (!(await reader.read()).done);
}

async function removeKey(yard: PeopledYard, user: string, key: string): Promise<void> {
  const { items } = await must(yard.client.call("listKeys", { params: { user } }));
  const id = items.find(({ shown }) => key.startsWith(shown))?.id ?? "";
  await must(yard.client.call("removeKey", { params: { user, key: id } }));
}
