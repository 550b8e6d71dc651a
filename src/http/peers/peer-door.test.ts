import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { systemIds } from "../../base/ids.ts";
import { ok } from "../../base/result.ts";
import type { App, Door, Passed } from "../door.ts";
import { openPasses, passHeader } from "./pass.ts";
import { openPeerDoor } from "./peer-door.ts";

const passed: Passed = {
  ...{ key: "c:7", door: "socket", caller: { signedIn: undefined, scopes: ["chat"] } },
  arrival: { address: undefined, isVeiled: false, isFromHere: true, host: "x", scheme: undefined, prefix: "" },
};

test("a server that leaves finishes what it serves, for two seconds at the most, and tells whoever comes to come again [N1][L6]", async (t) => {
  const waits: (readonly [ms: number, signal: AbortSignal | undefined])[] = [];
  const clock = manualClock();
  const wait = (ms: number, signal?: AbortSignal) =>
    new Promise<"elapsed" | "aborted">((resolve) => {
      waits.push([ms, signal]);
      signal?.addEventListener("abort", () => resolve("aborted"));
    });
  const opened = await openPeerDoor({ host: "127.0.0.1", port: 0 }, { ...clock, wait });
  assert.ok(opened.ok);
  const door = opened.value;
  t.after(() => door.close());
  const doors: Door[] = [];
  const answers = [Promise.withResolvers<Response>(), Promise.withResolvers<Response>()];
  const app: Pick<App, "fetch"> = {
    fetch(_, at: Door = {}) {
      doors.push(at);
      return answers[doors.length - 1]?.promise ?? new Response("more than two");
    },
  };
  const passes = openPasses({ key: { find: () => ok("key"), make: () => ok("") }, clock, ids: systemIds });
  door.serve(app, { server: "a", passes });
  const ask = async (path: string) => {
    const pass = passes.sign(passed, { method: "GET", path, server: "a" }) ?? "";
    const answer = await fetch(`http://${door.address}${path}`, { headers: { [passHeader]: pass } });
    return [answer.status, answer.headers.get("agentyard-peer"), answer.headers.get("x-a") ?? (await answer.text())];
  };
  const given = (text: string) => new Response(text, { headers: { "x-a": text } });
  const [first, second] = [ask("/a"), ask("/b?c=d")];
  while (doors.length < 2) await new Promise((resolve) => setImmediate(resolve));
  const { door: by, passed: who, leaving, closing } = doors[0] ?? {};
  const { door: _, ...rest } = passed;
  assert.deepEqual([by, who], ["socket", { ...rest, door: "socket" }]);
  assert.deepEqual([leaving?.aborted, closing?.aborted], [false, false]);
  let isGone = false;
  const left = door.leave().then(() => {
    isGone = true;
  });
  assert.deepEqual([leaving?.aborted, closing?.aborted], [true, true], "streams end");
  assert.deepEqual(
    waits.map(([ms]) => ms),
    [2_000],
  );
  assert.deepEqual((await ask("/c")).slice(0, 2), [503, "not now"]);
  answers[0]?.resolve(given("one"));
  assert.deepEqual(await first, [200, null, "one"]);
  assert.equal(isGone, false, "one is still served");
  answers[1]?.resolve(given("two"));
  assert.deepEqual(await second, [200, null, "two"]);
  await left;
  await door.leave();
  assert.equal(waits.length, 1, "nothing is served any more");
});

test("at the door of the servers nobody is served without a pass for this very request, nor before there is anything behind it [N1][Q1]", async (t) => {
  const clock = manualClock();
  const opened = await openPeerDoor({ host: "127.0.0.1", port: 0 }, clock);
  assert.ok(opened.ok);
  const door = opened.value;
  t.after(() => door.close());
  const passes = openPasses({ key: { find: () => ok("key"), make: () => ok("") }, clock, ids: systemIds });
  const served: string[] = [];
  const ask = async (pass: string | undefined, { method = "GET", long = "" } = {}) => {
    const headers = { "x-long": long, ...(pass !== undefined && { [passHeader]: pass }) };
    const answer = await fetch(`http://${door.address}/a?b=c`, { method, headers });
    const { code = "" } = answer.status === 200 ? {} : Object(await answer.json());
    return [answer.status, answer.headers.get("agentyard-peer"), code];
  };
  const good = { method: "GET", path: "/a?b=c", server: "a" };
  const sign = (at: Partial<typeof good> = {}) => passes.sign(passed, { ...good, ...at });
  assert.deepEqual(await ask(sign()), [503, "not now", "not_ready"]);
  const app: Pick<App, "fetch"> = {
    fetch(request: Request) {
      served.push(request.method);
      return new Response("served");
    },
  };
  door.serve(app, { server: "a", passes });
  const refused = [401, "refused", "peer_unknown"];
  for (const pass of [undefined, "x", sign({ path: "/a" }), sign({ server: "b" }), sign({ method: "POST" })])
    assert.deepEqual(await ask(pass), refused, pass ?? "without one");
  assert.deepEqual(await ask(sign(), { method: "POST" }), refused);
  assert.deepEqual(served, []);
  const used = sign();
  assert.deepEqual([await ask(used), await ask(used)], [[200, null, ""], refused]);
  const long = "x".repeat(50_000);
  assert.deepEqual(await ask(sign(), { long }), [200, null, ""], "as many as its caller may send, and the pass");
  assert.deepEqual(served, ["GET", "GET"]);
});
