import assert from "node:assert/strict";
import { test } from "node:test";
import { Hono } from "hono";
import { manualClock } from "../../test/world/manual-clock.ts";
import { type Metrics, noMetrics, noTracer, type Tracer } from "../observe/observe.ts";
import type { Door, Env, Passed } from "./door.ts";
import { watchRequests } from "./watch-requests.ts";

const statuses: Readonly<Record<string, 409 | 500 | 503>> = { broken: 503, ours: 500, theirs: 409 };

/** A server whose requests are watched, and what whoever watches has heard. */
function watched() {
  const clock = manualClock();
  const [answers, spans, ends]: [unknown[], unknown[], (() => void)[]] = [[], [], []];
  let streams = 0;
  const metrics: Metrics = {
    ...noMetrics,
    isOn: true,
    answered: (request) => void answers.push(request),
    streaming() {
      streams += 1;
      return () => {
        streams -= 1;
      };
    },
  };
  const tracer: Tracer = {
    ...noTracer,
    isOn: true,
    start(name, facts, options) {
      const told: unknown[] = [name, facts, options];
      return {
        place: undefined,
        rename: (now) => void told.push(now),
        set: (more) => void told.push(more),
        fail: (kind) => void told.push(`failed: ${kind}`),
        end: () => void spans.push(told),
      };
    },
  };
  const app = new Hono<Env>();
  app.use(watchRequests({ clock, metrics, tracer }));
  app.all("/things/:id{[a-z]+}/:part", (c) => {
    clock.move(7);
    const status = statuses[c.req.param("part")] ?? 200;
    return c.body("x", status, { "content-type": c.req.header("accept") ?? "text/plain" });
  });
  const ask = (path: string, init: RequestInit = {}, door: Door = {}) =>
    app.fetch(new Request(`http://here${path}`, init), { onEnd: (listener) => void ends.push(listener), ...door });
  return { ask, answers, spans, ends, streams: () => streams };
}

const arrival = { address: undefined, isVeiled: false, isFromHere: true, host: "x", scheme: undefined, prefix: "" };
const passed: Passed = { key: "u:local", caller: { signedIn: undefined, scopes: [] }, arrival };

test("a request is counted by the route it found and by how long it took, a stream until its end, and neither twice where it was handed on [O1][N1]", async () => {
  const { ask, answers, ends, streams } = watched();
  await ask("/things/a/part");
  await ask("/things/a/broken", { method: "POST" });
  await ask("/nothing");
  await ask("/things/a/part", { headers: { accept: "text/event-stream; charset=utf-8" } }, { passed });
  const route = "/things/{id}/{part}";
  assert.deepEqual(answers, [
    { route, method: "GET", status: 200, ms: 7 },
    { route, method: "POST", status: 503, ms: 7 },
    { route: "none", method: "GET", status: 404, ms: 0 },
  ]);
  assert.equal(streams(), 0);
  await ask("/things/a/part", { headers: { accept: "text/event-stream; charset=utf-8" } });
  assert.equal(streams(), 1);
  for (const end of ends) end();
  assert.equal(streams(), 0);
});

test("the span of a request stands below its caller's, or below none, and says whether we have failed [O1]", async () => {
  const { ask, spans } = watched();
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  await ask("/things/a/part", { headers: { traceparent, tracestate: "a=b" } });
  await ask("/things/a/broken", { method: "BREW" }, { passed });
  const [parent, route] = [
    { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", flags: 1, state: "a=b", isRemote: true },
    "/things/{id}/{part}",
  ];
  const about = (method: string) => ({ "http.request.method": method });
  const found = (status: number) => ({ "http.route": route, "http.response.status_code": status });
  assert.deepEqual(spans, [
    ["GET", about("GET"), { kind: "server", parent }, `GET ${route}`, found(200)],
    ["OTHER", about("OTHER"), { kind: "server", parent: null }, `OTHER ${route}`, found(503), "failed: 503"],
  ]);
  spans.length = 0;
  await ask("/things/a/ours");
  await ask("/things/a/theirs");
  const failures = spans.map((span) => [span].flat().filter((one) => String(one).startsWith("failed")));
  assert.deepEqual(failures, [["failed: 500"], []]);
});
