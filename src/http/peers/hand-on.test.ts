import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { Hono } from "hono";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { systemIds } from "../../base/ids.ts";
import { ok } from "../../base/result.ts";
import { homesHere } from "../../homes/homes.ts";
import { Problem } from "../../protocol/resources.ts";
import type { Env } from "../door.ts";
import { openRate } from "../rate.ts";
import { openHandOn } from "./hand-on.ts";
import { openPasses } from "./pass.ts";

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
    peer.dies();
    const answer = await ask(sent);
    assert.deepEqual([answer.status, await answer.text()], [200, "done"], sent.method);
    assert.deepEqual(peer.seen.splice(0), [sent.method, sent.method]);
  }
  for (const sent of [{ method: "POST", body: "x" }, { method: "PATCH", body: "x" }, { method: "DELETE" }]) {
    peer.dies();
    const answer = await ask(sent);
    assert.deepEqual(peer.seen.splice(0), [sent.method]);
    const { code } = Problem.parse(await answer.json());
    assert.deepEqual([answer.status, code, answer.headers.get("retry-after")], [503, "home_away", "3"], sent.method);
  }
});

/** Another server, which dies once it has read all of a request, and lives again for the next. */
async function dyingPeer(t: TestContext) {
  const seen: (string | undefined)[] = [];
  let isDying = false;
  // No connection is closed for having been idle, however long this machine stands still.
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, outgoing) => {
    seen.push(incoming.method);
    incoming.resume().once("end", () => {
      if (!isDying) return void outgoing.end("done");
      isDying = false;
      incoming.socket.destroy();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const dies = () => {
    isDying = true;
  };
  return { address: `127.0.0.1:${port}`, seen, dies };
}

/** The door of a server where everything is at home at another one. */
function handingOnTo(t: TestContext, address: string) {
  const clock = manualClock();
  const key = { find: () => ok("key of all"), make: () => ok("") };
  const handOn = openHandOn({
    homes: { ...homesHere, isShared: true, homeOf: async () => ({ isHere: false, server: "there", address }) },
    ...{ passes: openPasses({ key, clock, ids: systemIds }), rate: openRate(clock), clock },
    logger: (line) => t.diagnostic(line),
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
    const bytes = new Uint8Array(await c.req.arrayBuffer());
    return (await handOn(c, "u:local", { bytes })) ?? c.text("served here");
  });
  return (sent: RequestInit) => app.fetch(new Request("http://here/", sent));
}
