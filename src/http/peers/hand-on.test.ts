import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Hono } from "hono";
import { manualClock, notingClock } from "../../../test/world/manual-clock.ts";
import type { Clock } from "../../base/clock.ts";
import { systemIds } from "../../base/ids.ts";
import { ok } from "../../base/result.ts";
import { type Home, homesHere } from "../../homes/homes.ts";
import { Problem } from "../../protocol/resources.ts";
import { bodyAsItComes } from "../bytes.ts";
import type { Env } from "../door.ts";
import { openRate } from "../rate.ts";
import { type HandingOn, openHandOn } from "./hand-on.ts";
import { openPasses } from "./pass.ts";
import { type PeerWord, peerHeader } from "./peer-words.ts";

/** As files are sent: handed on as it comes. */
const bytesType = "application/octet-stream";

type Doing = "dies" | "hangs" | PeerWord;

/** Another server, which dies once it has read all of a request, or does not serve it, and does serve the next. */
async function dyingPeer(t: TestContext) {
  const seen: (string | undefined)[] = [];
  const hanging: ServerResponse[] = [];
  let next: Doing[] = [];
  let headers: IncomingHttpHeaders = {};
  // No connection is closed for having been idle, however long this machine stands still.
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, outgoing) => {
    seen.push(incoming.method);
    incoming.resume().once("end", () => {
      headers = incoming.headers;
      const doing = next.shift();
      if (doing === undefined) outgoing.setHeader("set-cookie", ["a=1; Path=/", "b=2; Path=/"]).end("done");
      else if (doing === "dies") incoming.socket.destroy();
      else if (doing === "hangs") hanging.push(outgoing);
      else outgoing.writeHead(503, { [peerHeader]: doing }).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const says = (...doings: Doing[]) => {
    next = doings;
  };
  return { address: `127.0.0.1:${port}`, seen, says, headers: () => headers, hanging };
}

type More = Partial<Pick<HandingOn, "logger" | "tracer" | "clock" | "homes">>;

/** The door of a server where everything is at home at another one. */
function handingOnTo(t: TestContext, address: string, more: More = {}) {
  const { clock = manualClock(), ...parts } = more;
  const key = { find: () => ok("key of all"), make: () => ok("") };
  const handOn = openHandOn({
    homes: { ...homesHere, isShared: true, homeOf: async () => ({ isHere: false, server: "there", address }) },
    ...{ passes: openPasses({ key, clock, ids: systemIds }), rate: openRate(clock), clock },
    ...{ logger: (line: string) => t.diagnostic(line), ...parts },
  });
  const app = new Hono<Env>();
  app.all("/", async (c) => {
    c.set("requestId", "mine");
    c.set("language", "en");
    c.set("dialect", "own");
    c.set("caller", { signedIn: undefined, scopes: [] });
    c.set("arrival", {
      ...{ address: undefined, isVeiled: false, isFromHere: true },
      ...{ host: "here", scheme: undefined, prefix: "" },
    });
    const isKept = c.req.header("content-type") !== bytesType;
    const body = isKept ? { bytes: new Uint8Array(await c.req.arrayBuffer()) } : bodyAsItComes(c.req.raw);
    return (await handOn(c, "u:local", body)) ?? c.text("served here");
  });
  return (sent: RequestInit) => app.request("http://here/", sent);
}

test("what may have been done at a server that died is not done a second time: the caller is told when to come again [N1][L6]", async (t) => {
  const peer = await dyingPeer(t);
  const ask = handingOnTo(t, peer.address);
  const underKey = { "idempotency-key": "the-one" };
  const harmless = [
    { method: "GET" },
    { method: "OPTIONS" },
    { method: "PUT", body: "x" },
    { method: "POST", body: "x", headers: underKey },
    { method: "DELETE", headers: underKey },
  ];
  for (const sent of harmless) {
    peer.says("dies");
    const answer = await ask(sent);
    assert.deepEqual([answer.status, await answer.text()], [200, "done"], sent.method);
    assert.deepEqual(peer.seen.splice(0), [sent.method, sent.method]);
  }
  for (const sent of [{ method: "POST", body: "x" }, { method: "PATCH", body: "x" }, { method: "DELETE" }]) {
    peer.says("dies");
    const answer = await ask(sent);
    assert.deepEqual(peer.seen.splice(0), [sent.method]);
    const { code } = Problem.parse(await answer.json());
    assert.deepEqual([answer.status, code, answer.headers.get("retry-after")], [503, "home_away", "3"], sent.method);
  }
});

test("a server that says again and again that it is not the home is asked three times, one that does not know us once [N1][P4]", async (t) => {
  const peer = await dyingPeer(t);
  const lines: string[] = [];
  const ask = handingOnTo(t, peer.address, { logger: (line) => lines.push(line) });
  const outcome = async (...words: PeerWord[]) => {
    peer.says(...words);
    const { status } = await ask({ method: "GET" });
    return [status, peer.seen.splice(0).length];
  };
  assert.deepEqual(await outcome("elsewhere", "elsewhere"), [200, 3]);
  assert.deepEqual(await outcome("elsewhere", "elsewhere", "elsewhere"), [503, 3]);
  assert.deepEqual(await outcome("not now", "not now", "not now", "not now"), [200, 5], "it opens in a moment");
  assert.deepEqual(lines, []);
  assert.deepEqual(await outcome("refused"), [503, 1]);
  const [line = "", ...others] = lines;
  assert.deepEqual([/^server there at 127\.0\.0\.1:\d+ .*AGENTYARD_KEY or the clocks/.test(line), others], [true, []]);
});

/** Time goes on by itself for whoever waits. */
function passingClock() {
  const { clock, waits } = notingClock();
  const wait: Clock["wait"] = (ms, signal) => {
    clock.move(ms);
    return clock.wait(ms, signal);
  };
  return { clock: { ...clock, wait }, waits };
}

test("a server that opens in a moment is waited for twenty seconds, longer each time, and one that is gone for five [N1][L6]", async (t) => {
  const peer = await dyingPeer(t);
  const outcome = async (says: "not now" | "dies") => {
    const { clock, waits } = passingClock();
    const doubted: string[] = [];
    const there = { isHere: false, server: "there", address: peer.address } as const;
    const homes = {
      ...homesHere,
      isShared: true,
      homeOf: async () => there,
      doubt: (one: string) => doubted.push(one),
    };
    const ask = handingOnTo(t, peer.address, { clock, homes });
    peer.says(...Array.from({ length: 50 }, () => says));
    const { status } = await ask({ method: "GET" });
    assert.deepEqual([status, doubted], [503, peer.seen.splice(0).map(() => "there")], says);
    return waits;
  };
  assert.deepEqual(await outcome("not now"), [200, 400, 800, 1_600, ...Array.from({ length: 9 }, () => 2_000)]);
  assert.deepEqual(
    await outcome("dies"),
    Array.from({ length: 26 }, () => 200),
  );
});

test("a request at a server that is gone without a word is taken from it as soon as that is known [N1][L6]", async (t) => {
  const peer = await dyingPeer(t);
  const { clock } = passingClock();
  const listeners: ((server: string) => void)[] = [];
  const places: Home[] = [{ isHere: false, server: "there", address: peer.address }, { isHere: true }];
  const homes = {
    ...homesHere,
    isShared: true,
    homeOf: async () => places.shift() ?? { isHere: true as const },
    onGone(listener: (server: string) => void) {
      listeners.push(listener);
      return () => {};
    },
  };
  const ask = handingOnTo(t, peer.address, { clock, homes });
  peer.says("hangs");
  const answered = ask({ method: "GET" });
  while (peer.hanging.length === 0) await setImmediate();
  for (const listener of listeners) listener("there");
  clock.move(500);
  assert.equal(await (await answered).text(), "served here");
});

test("a request is handed on with its id, its length and its place in the trace, and every cookie of the answer comes back [N1][C6]", async (t) => {
  const peer = await dyingPeer(t);
  const place = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", flags: 1, state: undefined };
  const ask = handingOnTo(t, peer.address, { tracer: { current: () => place } });
  const own = { te: "trailers", "proxy-authorization": "secret", "x-mine": "kept", "accept-language": "zh" };
  const answer = await ask({ method: "POST", body: "12345", headers: own });
  assert.deepEqual(answer.headers.getSetCookie(), ["a=1; Path=/", "b=2; Path=/"]);
  const { te, "proxy-authorization": proxy, "x-mine": mine, "accept-language": language, ...told } = peer.headers();
  assert.deepEqual([te, proxy, mine, language], [undefined, undefined, "kept", "zh"]);
  assert.deepEqual(
    [told["x-request-id"], told["content-length"], told.traceparent],
    ["mine", "5", `00-${place.traceId}-${place.spanId}-01`],
  );
});
