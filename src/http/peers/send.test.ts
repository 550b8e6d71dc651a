import assert from "node:assert/strict";
import { getEventListeners, once } from "node:events";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { systemIds } from "../../base/ids.ts";
import { ok } from "../../base/result.ts";
import { localOwner } from "../../protocol/ids.ts";
import type { Passed } from "../door.ts";
import { openPasses } from "./pass.ts";
import { type Outgoing, openSending } from "./send.ts";

test("a request that reached nobody is known not to have been sent, and one that its caller left is over [N1][Q2]", async (t) => {
  const to = await serving(t, () => {});
  const sending = openSending(systemClock);
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const nowhere = { server: "there", address: `127.0.0.1:${port}` };
  assert.deepEqual(await sending.send({ ...outgoing, to: nowhere }), { unreached: { wasSent: false } });
  const gone = new AbortController();
  const left = sending.send({ ...outgoing, to, gone: gone.signal });
  gone.abort();
  const { unreached } = { unreached: undefined, ...(await left) };
  assert.ok(unreached !== undefined);
});

const never = new AbortController().signal;
const outgoing: Omit<Outgoing, "to"> = {
  ...{ method: "GET", path: "/", headers: {}, body: undefined },
  ...{ gone: never, closing: never, breakOff: () => false },
};

async function serving(t: TestContext, listener: RequestListener): Promise<Outgoing["to"]> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { server: "there", address: `127.0.0.1:${port}` };
}

const passed: Passed = {
  key: "c:7",
  door: "socket",
  caller: { signedIn: localOwner, scopes: ["chat", "files"], by: "cookie", signIn: "hash" },
  arrival: {
    ...{ address: "10.0.0.9", isVeiled: false, isFromHere: false },
    ...{ host: "yard.example:8443", scheme: "https", prefix: "/yard" },
  },
  counted: { who: "user local", max: 1_200 },
};
const at = { method: "POST", path: "/api/v1/conversations/c/messages?x=1", server: "a" };

function passesOf(key: string | undefined, now = () => 0) {
  return openPasses({ key: { find: () => ok(key), make: () => ok("") }, clock: { now }, ids: systemIds });
}

test("a pass says who calls, and is good once, for one request to one server, for a minute [N1][Q1]", () => {
  let now = 1_000_000;
  const [one, other] = [passesOf("key of all", () => now), passesOf("key of all", () => now)];
  const sign = () => one.sign(passed, at) ?? "";
  const pass = sign();
  assert.deepEqual(other.read(pass, at), passed);
  assert.equal(other.read(pass, at), undefined);
  for (const elsewhere of [
    { ...at, method: "DELETE" },
    { ...at, path: "/api/v1/conversations/other/messages?x=1" },
    { ...at, path: "/api/v1/conversations/c/messages" },
    { ...at, server: "b" },
  ])
    assert.equal(other.read(sign(), elsewhere), undefined);
  const late = sign();
  now += 60_001;
  assert.equal(other.read(late, at), undefined);
  // A clock that goes a little wrong is not enough, one that is far ahead is.
  const early = sign();
  now -= 30_000;
  assert.deepEqual(other.read(early, at), passed);
  const tooEarly = sign();
  now -= 90_000;
  assert.equal(other.read(tooEarly, at), undefined);
});

test("nobody else can make a pass, and nothing in one can be changed [N1][Q1]", () => {
  const ours = passesOf("key of all");
  const pass = ours.sign(passed, at) ?? "";
  const [text = "", signature = ""] = pass.split(".");
  const changed = Buffer.from(text, "base64url").toString("utf8").replace('"local"', '"admin"');
  for (const forged of [
    ...[null, "", ".", "a.b", `${text}.`, `.${signature}`, text, `${text}.${signature}x`, `${signature}.${text}`],
    `${Buffer.from(changed).toString("base64url")}.${signature}`,
    passesOf("another key").sign(passed, at) ?? "",
  ])
    assert.equal(ours.read(forged, at), undefined);
  assert.deepEqual(ours.read(pass, at), passed);
});

test("without a key of the installation nothing is handed on, and nothing is believed [N1][Q1]", () => {
  const none = passesOf(undefined);
  assert.equal(none.sign(passed, at), undefined);
  assert.equal(none.read(passesOf("").sign(passed, at) ?? null, at), undefined);
});

test("an answer comes as it was given, a stream of events ends with the server that hands it on, and what breaks off breaks off [N1][C3]", async (t) => {
  const waiting: ServerResponse[] = [];
  const to = await serving(t, (incoming, answer) => {
    if (incoming.url === "/none") return void answer.writeHead(204, { "x-own": "1", connection: "close" }).end();
    answer.writeHead(200, { "content-type": incoming.url === "/events" ? "text/event-stream" : "text/plain" });
    answer.write("a");
    waiting.push(answer);
  });
  const sending = openSending(systemClock);
  const closing = new AbortController();
  const ends: string[] = [];
  const begin = async (path: string, isConnected = true) => {
    const breakOff = () => isConnected && ends.push(path) > 0;
    const sent = await sending.send({ ...outgoing, to, path, closing: closing.signal, breakOff });
    assert.ok("answer" in sent);
    return sent.answer;
  };
  const none = await begin("/none");
  assert.deepEqual([none.status, none.body, Object.fromEntries(none.headers)], [204, null, { "x-own": "1" }]);
  const [events, plain, cut] = [await begin("/events"), await begin("/plain"), await begin("/cut", false)];
  const listening = () => getEventListeners(closing.signal, "abort").length;
  assert.equal(listening(), 1, "a file is sent to its end");
  const reader = events.body?.getReader();
  assert.deepEqual(Buffer.from((await reader?.read())?.value ?? []).toString(), "a");
  closing.abort();
  assert.equal((await reader?.read())?.done, true);
  assert.deepEqual([ends, listening()], [["/events"], 0]);
  waiting[1]?.end("b");
  assert.equal(await plain.text(), "ab");
  waiting[2]?.destroy();
  await assert.rejects(cut.text());
  const left = await begin("/left");
  await left.body?.cancel();
  await once(waiting[3] ?? assert.fail(), "close");
  assert.deepEqual(ends, ["/events"], "its caller has left by themselves");
});
