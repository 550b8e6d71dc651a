import assert from "node:assert/strict";
import { once } from "node:events";
import { realpathSync } from "node:fs";
import { createServer, get, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { socketFetch } from "../../src/client/socket-fetch.ts";
import { listen, openPeerDoor } from "../../src/http/http.ts";
import { makeFailure } from "../../src/protocol/failure.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { Problem } from "../../src/protocol/resources.ts";
import { type Storage, StorageAway } from "../../src/storage/storage.ts";
import { until } from "../world/events.ts";
import { modelServer, says } from "../world/model-server.ts";
import { openFiles } from "../world/open-files.ts";
import { cannotStore, postgresServer } from "../world/postgres-server.ts";
import { type OneOfTwo, startTwo } from "../world/two-yards.ts";
import { must } from "../world/yard.ts";

// What one process hands on to another, and what happens where that one does not answer.

const needed = { skip: cannotStore };

/** A conversation that is at home there, and what both call it. */
async function startAt({ client, yard }: OneOfTwo) {
  const { id } = await must(client.call("createConversation", { body: {} }));
  const { number } = await must(yard.log.find(localOwner, id));
  return { id, key: `c:${number}`, path: `/api/v1/conversations/${id}` } as const;
}

async function peerAddress(of: OneOfTwo, asker: OneOfTwo, key: `c:${number}`): Promise<string> {
  const home = await asker.peers.homes.homeOf(key);
  assert.ok(!home.isHere && home.server === of.peers.homes.server);
  return `http://${home.address}`;
}

test("nothing is served at the door of the servers without a pass that was made for it [N1][Q1]", {
  ...needed,
}, async () => {
  await using two = await startTwo();
  const { one, other } = two;
  const { path, key } = await startAt(one);
  const address = await peerAddress(one, other, key);
  const passed = {
    ...{ key, caller: { signedIn: undefined, scopes: ["chat", "files", "admin"] as const } },
    arrival: {
      ...{ address: undefined, isVeiled: false, isFromHere: true, host: "here" },
      ...{ scheme: undefined, prefix: "" },
    },
  };
  const { server } = one.peers.homes;
  const sign = (to: { method: string; path: string; server: string }) => other.yard.passes.sign(passed, to) ?? "";
  const good = () => sign({ method: "GET", path, server });
  const used = good();
  assert.equal((await fetch(address + path, { headers: { "agentyard-pass": used } })).status, 200);
  const refused = new Map<string, RequestInit & { path?: string }>([
    ["none", {}],
    ["nonsense", { headers: { "agentyard-pass": "x.y" } }],
    ["used before", { headers: { "agentyard-pass": used } }],
    ["of another path", { headers: { "agentyard-pass": sign({ method: "GET", path: `${path}/state`, server }) } }],
    ["of another method", { method: "DELETE", headers: { "agentyard-pass": good() } }],
    ["of another process", { headers: { "agentyard-pass": sign({ method: "GET", path, server: "other" }) } }],
    ["none, and a body", { method: "POST", body: "x".repeat(100_000), path: "/api/v1/conversations" }],
    ["none, for what is open to all", { path: "/healthz" }],
  ]);
  for (const [what, { path: at = path, ...sent }] of refused) {
    const response = await fetch(address + at, sent);
    assert.equal(response.status, 401, what);
    const problem = Problem.parse(await response.json());
    assert.equal(problem.code, "peer_unknown");
    assert.match(problem.detail, /for the other servers of/);
    assert.deepEqual(problem.params, {});
  }
  // Nor does what is no request at all.
  const socket = connect(Number(new URL(address).port), "127.0.0.1");
  socket.end("nonsense\r\n\r\n");
  const [answer] = await once(socket, "data");
  assert.match(String(answer), /^HTTP\/1.1 400/);
});

test("what is handed on keeps its id, its caller's rights and its count [N1][C6]", { ...needed }, async (t) => {
  await using two = await startTwo();
  const { one, other } = two;
  const { path } = await startAt(one);

  // The id of the request, also of one that fails; the same words as at home.
  const wanted = { method: "POST", headers: { "x-request-id": "mine", "accept-language": "zh" } };
  const [there, here] = [
    await fetch(`${other.address}${path}/undo`, wanted),
    await fetch(`${one.address}${path}/undo`, wanted),
  ];
  const [problem, same] = [await there.json(), await here.json()];
  assert.deepEqual(problem, same);
  assert.equal(Problem.parse(problem).requestId, "mine");
  assert.equal(there.headers.get("x-request-id"), "mine");
  const made = await fetch(`${other.address}${path}/undo`, { method: "POST" });
  assert.equal(Problem.parse(await made.json()).requestId, made.headers.get("x-request-id"));

  // Whoever comes over the socket of one process is the same user of the machine for the other.
  const socketPath = join(other.config.paths.dataDir, "s");
  const local = await listen(other.yard.app, { socketPath }, { clock: systemClock });
  assert.ok(local.ok);
  t.after(() => local.value.close());
  const advice = async (fetched: Promise<Response>) => Problem.parse(await (await fetched).json()).detail;
  const headers = { "content-type": "application/json" };
  const sent = { method: "POST", headers, body: JSON.stringify({ verdict: "approve" }) };
  const url = `${path}/decisions/none`;
  const bySocket = advice(socketFetch(socketPath, systemClock)(`http://x${url}`, sent));
  assert.match(await bySocket, /inbox/);
  assert.notEqual(await bySocket, await advice(fetch(`${other.address}${url}`, sent)));

  // Counted once: by the process that serves it.
  const left = async (at: OneOfTwo, place: string) =>
    Number((await fetch(`${at.address}${place}`)).headers.get("ratelimit-remaining"));
  const before = { one: await left(one, path), other: await left(other, "/api/v1/conversations") };
  assert.equal(await left(other, path), before.one - 1);
  assert.equal(await left(one, path), before.one - 2);
  assert.equal(await left(other, "/api/v1/conversations"), before.other - 1);
});

test("a call under one key is done once, whichever server it comes to [N1][C6]", { ...needed }, async () => {
  await using model = await modelServer(() => says("once"));
  await using two = await startTwo({ model });
  const { one, other } = two;
  const headers = { "idempotency-key": "the-one", "content-type": "application/json" };
  const body = JSON.stringify({ query: "hi", stream: false });
  const asked = [one, other, one, other, other].map(({ address }) =>
    fetch(`${address}/api/agent-app/v1/app/a/chat/completion`, { method: "POST", headers, body }),
  );
  const answers = await Promise.all(asked);
  const texts = await Promise.all(answers.map((answer) => answer.text()));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.equal(new Set(texts).size, 1);
  assert.equal(model.asked.length, 1);
});

test("who leaves in the middle leaves both servers, and what breaks off breaks off for the caller [N1][C3]", {
  ...needed,
}, async () => {
  await using model = await modelServer(() => ({ text: "one two three four", fault: { after: 2, kind: "stall" } }));
  await using two = await startTwo({ model });
  const { one, other } = two;
  const { id, path } = await startAt(one);
  await must(other.client.call("sendMessage", { params: { id }, body: { text: "hi" } }));
  const stop = new AbortController();
  const left = await fetch(`${other.address}${path}/stream`, { signal: stop.signal });
  await left.body?.getReader().read();
  stop.abort();
  // The next one has the process to itself: it ends in the middle of the answer, and the reader is told.
  const cut = await fetch(`${other.address}${path}/stream`);
  const reader = cut.body?.getReader();
  await reader?.read();
  const rest = (async () => {
    for (;;) if ((await reader?.read())?.done !== false) return "ended";
  })();
  await one.close();
  const end = await rest.catch(() => "broken off");
  assert.ok(["ended", "broken off"].includes(end));
  // What was at home there is at home here, at once.
  assert.equal((await fetch(`${other.address}${path}/state`)).status, 200);
  assert.deepEqual(await other.peers.homes.homeOf((await startAt(other)).key), { isHere: true });
});

test("a home that does not answer is told with when to come again, and one that is not the home says so [N1][P4]", {
  ...needed,
}, async () => {
  await using two = await startTwo();
  const { one, other } = two;
  const there = await startAt(one);
  const here = await startAt(other);
  const address = await peerAddress(one, other, there.key);
  const arrival = { address: undefined, isVeiled: false, isFromHere: true, host: "x", scheme: undefined, prefix: "" };
  const passed = { key: here.key, caller: { signedIn: undefined, scopes: ["chat"] as const }, arrival };
  const to = { method: "GET", path: here.path, server: one.peers.homes.server };
  const headers = { "agentyard-pass": other.yard.passes.sign(passed, to) ?? "" };
  // A fetch would send it once more by itself.
  const [astray]: IncomingMessage[] = await once(get(address + here.path, { headers }), "response");
  assert.deepEqual([astray?.statusCode, astray?.headers["agentyard-peer"]], [421, "elsewhere"]);
  astray?.resume();

  // Its door is shut, and it lives: what cannot be sent twice is refused at once, all else is tried until it answers.
  await one.peers.close();
  const upload = await other.send("PUT", `${there.path}/files/uploads/a.txt`, {
    ...{ body: "text", headers: { "content-type": "application/octet-stream" } },
  });
  assert.equal(upload.status, 503);
  assert.equal(upload.headers.get("retry-after"), "3");
  assert.equal(Problem.parse(upload.json).code, "home_away");
  const ask = async () => {
    const startedAt = systemClock.monotonic();
    const { status } = await other.send("GET", `${there.path}/state`);
    // An end that took longer, on a busy machine, than anybody tries: all of that time was tried.
    return status === 503 && systemClock.monotonic() - startedAt >= 5_000 ? "late" : status;
  };
  const first = ask();
  await one.close();
  const status = await first;
  assert.equal(status === "late" ? await ask() : status, 200);
});

test("what comes to a server that is about to end is done by the next one, also what must not be done twice [N1][L6]", {
  ...needed,
}, async () => {
  await using model = await modelServer(() => says("of the other"));
  await using two = await startTwo({ model });
  const { one, other } = two;
  const { id, key, path } = await startAt(one);
  // The connection between them stays open for the next.
  assert.equal((await other.send("GET", `${path}/state`)).status, 200);
  const address = await peerAddress(one, other, key);
  await one.peers.leave();
  // Who is no process of ours is not told to go where everybody goes: that one is about to end, too.
  assert.deepEqual(await problemAt(address), [503, "not now", "server_closing"]);
  const said = other.send("POST", `${path}/messages`, { json: { text: "hi" } });
  assert.equal(await Promise.race([said, systemClock.wait(500)]), "elapsed");
  await one.close();
  const { status, text } = await said;
  assert.ok(status < 300, text);
  await until("it is answered", async () => (await other.send("GET", `${path}/state`)).json.status === "idle");
  const { number } = await must(other.yard.log.find(localOwner, id));
  const events = await other.yard.log.read(number, { after: 0, limit: 100 });
  assert.equal(events.filter(({ type }) => type === "message.user").length, 1);
});

test("a door that opens before there is anything behind it says to come again [N1][P4]", async (t) => {
  const door = await openPeerDoor({ host: "127.0.0.1", port: 0 }, systemClock);
  assert.ok(door.ok);
  t.after(() => door.value.close());
  assert.deepEqual(await problemAt(`http://${door.value.address}`), [503, "not now", "not_ready"]);
});

async function problemAt(address: string) {
  const response = await fetch(`${address}/api/v1/conversations`);
  const { code, status } = Problem.parse(await response.json());
  assert.equal(status, response.status);
  return [status, response.headers.get("agentyard-peer"), code];
}

test("what shows who a caller is goes no further than the server that lets them in, and a refusal leaves no connection open [N1][Q1]", {
  ...needed,
}, async (t) => {
  await using two = await startTwo();
  const { one } = two;
  const { key, path } = await startAt(one);
  // Somebody who has taken the place of a server: it refuses whatever it is handed, and notes it.
  const seen: IncomingMessage["headers"][] = [];
  const peer = createServer({ keepAliveTimeout: 75_000 }, (incoming, outgoing) => {
    seen.push(incoming.headers);
    incoming.resume();
    outgoing.writeHead(401, { "agentyard-peer": "refused" }).end("x".repeat(1_000));
  });
  peer.listen(0, "127.0.0.1");
  await once(peer, "listening");
  t.after(() => {
    peer.closeAllConnections();
    peer.close();
  });
  const { port } = peer.address() as AddressInfo;
  const server = await postgresServer();
  const schema = new URL(one.config.storage.database?.url ?? "").searchParams.get("schema");
  // A little ahead of time: on a busy machine, too, nobody misses it before the next request.
  const beat = () =>
    server.run(`INSERT INTO "${schema}".server (id, address, started_at, seen_at)
      SELECT 'peer', '127.0.0.1:${port}', now, now + 2500
      FROM (SELECT (extract(epoch FROM now()) * 1000)::bigint AS now) AS clock
      ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`);
  await beat();
  await server.run(`INSERT INTO "${schema}".home (key, server) VALUES ('u:local', 'peer')`);
  const headers = {
    ...{ authorization: "Bearer ay_secret", "x-api-key": "ay_secret", "agentyard-pass": "mine" },
    cookie: "a=b; agentyard=secret; __Host-agentyard=secret; agentyard-way=sealed",
    "content-type": "application/json",
  };
  for (let count = 0; count < 8; count += 1) {
    await beat();
    const refused = await one.send("POST", "/api/v1/memory", { headers, body: JSON.stringify({ fact: "x" }) });
    assert.equal(Problem.parse(refused.json).code, "home_away");
    assert.doesNotMatch(refused.text + JSON.stringify([...refused.headers]), new RegExp(`${port}|agentyard-peer`));
  }
  assert.equal(seen.length, 8);
  for (const told of seen) {
    assert.deepEqual([told.authorization, told["x-api-key"]], [undefined, undefined]);
    assert.equal(told.cookie, "agentyard-way=sealed", "which the process that ends a sign-in needs");
    assert.match(String(told["agentyard-pass"]), /^[\w-]{20,}\.[\w-]{43}$/);
  }
  const open = () => new Promise<number>((resolve) => peer.getConnections((_, count) => resolve(count)));
  await until("they are closed, or used again", async () => (await open()) <= 1);
  assert.equal((await one.send("GET", path)).status, 200, key);
});

test("a form whose home cannot be found out is refused, and nothing of it stays open [N1][Q2]", {
  ...needed,
}, async () => {
  let isAway: "never" | "conversation" | "home" = "never";
  const away = () => new StorageAway(makeFailure("storage_busy", {}), undefined);
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    findConversation: (...asked) =>
      isAway === "conversation" ? Promise.reject(away()) : storage.findConversation(...asked),
    homeOf: (...asked) => (isAway === "home" ? Promise.reject(away()) : storage.homeOf(...asked)),
  });
  await using two = await startTwo({ wrapStorage });
  // Of its own: other tests share the process.
  const folder = realpathSync(dirname(two.one.config.paths.filesDir));
  const isKept = (link: string) => link.startsWith(folder) && /staging.*deleted/.test(link);
  const kept = () => openFiles().filter(isKept).length;
  for (const where of ["conversation", "home"] as const) {
    const form = new FormData();
    form.set("file", new File(["x".repeat(100_000)], "a.txt"));
    form.set("conversation_id", "c");
    isAway = where;
    const path = `/api/v1/sessions/sb-session-${where}/files/upload`;
    const refused = await fetch(`${two.one.address}${path}`, {
      ...{ method: "POST", body: form, headers: { "x-account-id": where } },
    });
    isAway = "never";
    const { code } = Problem.parse(await refused.json());
    assert.deepEqual([refused.status, code, kept()], [503, "storage_busy", 0], where);
  }
});
