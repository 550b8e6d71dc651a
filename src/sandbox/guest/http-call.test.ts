import assert from "node:assert/strict";
import { getEventListeners, once } from "node:events";
import { createServer, request as httpRequest, type RequestListener } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type TestContext, test } from "node:test";
import { until } from "../../../test/world/events.ts";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { callJson, callUpgrade, changeProtocol, exchange } from "./http-call.ts";

// Whoever starts guests elsewhere, played by a server of this process.

type Served = { readonly answer?: RequestListener; readonly upgrade?: (socket: Duplex) => void };

async function serve(t: TestContext, { answer = () => {}, upgrade }: Served) {
  const server = createServer(answer);
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  if (upgrade !== undefined) server.on("upgrade", (_, socket) => upgrade(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const ask = (headers = {}) => httpRequest({ host: "127.0.0.1", port, method: "POST", headers, agent: false });
  return { ask, port, sockets };
}

const upgrading = { Connection: "Upgrade", Upgrade: "tcp" };
const waitingFor = (bytesMax = 100) => ({ clock: manualClock(), timeoutMs: 1000, bytesMax });

test("an answer is taken up to its limit; a longer one, half of one and none are told apart [X3][Q2]", async (t) => {
  const { ask, port, sockets } = await serve(t, {
    answer(request, response) {
      let question = "";
      request.on("data", (piece) => (question += piece));
      request.once("end", () => {
        const { "content-type": type, "content-length": length } = request.headers;
        if (question === '"half"')
          response.writeHead(200, { "Content-Length": 9 }).write("half", () => response.destroy());
        else if (question === '"none"') request.socket.destroy();
        else response.end(question === '"long"' ? "x".repeat(101) : `${type} ${length} ${question}`.padEnd(99));
      });
    },
  });
  const told = async (body: unknown) => {
    const waiting = waitingFor();
    const answered = await callJson(ask(), body, waiting);
    assert.equal(waiting.clock.timers(), 0);
    return answered.ok ? answered.value.text.trim() : answered.failure;
  };
  const broken = (said: string) => ({ why: "broken_off", status: 0, said });
  assert.deepEqual(
    [await told({ a: "ü" }), await told(undefined), await told("long"), await told("half"), await told("none")],
    [
      ...['application/json 10 {"a":"ü"}', "application/json 0"],
      ...[broken("the answer is too long"), broken(""), broken("ECONNRESET")],
    ],
  );
  await until("no connection is left", () => sockets.size === 0);
  const nobody = httpRequest({ host: "127.0.0.1", port: 1, agent: false });
  const away = await exchange(nobody, "", waitingFor());
  assert.deepEqual(away.ok || away.failure, { why: "unreachable", status: 0, said: "ECONNREFUSED" });
  assert.ok(port > 0);
});

test("a refusal has its status, the reason that was given, and when to come again [X3]", async (t) => {
  const answers: [number, Record<string, string>, string][] = [
    [299, {}, "fine"],
    [300, {}, "plain words"],
    [409, { "retry-after": "0" }, '{"message":"taken"}'],
    [503, { "retry-after": "3" }, '{"message":7}'],
    [500, { "retry-after": "soon" }, "x".repeat(1001)],
  ];
  const left = [...answers];
  const { ask } = await serve(t, {
    answer(_, response) {
      const [status, headers, text] = left.shift() ?? [500, {}, ""];
      response.writeHead(status, headers).end(text);
    },
  });
  const told: unknown[] = [];
  for (const _ of answers) {
    const answered = await callJson(ask(), {}, waitingFor(2000));
    told.push(answered.ok ? answered.value.text : answered.failure);
  }
  assert.deepEqual(told, [
    "fine",
    { why: "refused", status: 300, said: "plain words" },
    { why: "refused", status: 409, said: "taken", retryAfterMs: 0 },
    { why: "refused", status: 503, said: '{"message":7}', retryAfterMs: 3000 },
    { why: "refused", status: 500, said: "x".repeat(1000) },
  ]);
});

test("who does not answer in time, or is not waited for any more, is hung up on; an answer in time leaves nothing [X3][Q2]", async (t) => {
  let isAnswering = false;
  const { ask, sockets } = await serve(t, { answer: (_, response) => isAnswering && response.end("yes") });
  const clock = manualClock();
  const over = new AbortController();
  const late = { why: "late", status: 0, said: "" };
  const waiting = { clock, timeoutMs: 1000, bytesMax: 10, signal: over.signal };
  const slow = exchange(ask(), "", waiting);
  await until("it is asked", () => sockets.size === 1);
  clock.move(999);
  assert.equal(clock.timers(), 1);
  clock.move(1);
  const told = await slow;
  await until("it is hung up on", () => sockets.size === 0);
  assert.deepEqual([told.ok || told.failure, getEventListeners(over.signal, "abort").length], [late, 0]);

  isAnswering = true;
  const patient = { ...waiting, timeoutMs: null };
  const answered = await exchange(ask(), "", patient);
  assert.deepEqual([answered.ok && answered.value.text, clock.timers()], [{ ok: true, value: "yes" }, 0]);
  assert.equal(getEventListeners(over.signal, "abort").length, 0);

  isAnswering = false;
  const given = exchange(ask(), "", patient);
  await until("it is asked", () => sockets.size === 1);
  assert.equal(clock.timers(), 0);
  over.abort();
  const [first, next] = [await given, await exchange(ask(), "", patient)];
  assert.deepEqual([first.ok || first.failure, next.ok || next.failure], [late, late]);
  await until("both are hung up on", () => sockets.size === 0);
});

test("a connection that changes its protocol is handed on with what came along, and one that does not is told [X3]", async (t) => {
  const head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tcp\r\nX-Id: 7\r\n\r\n";
  const changing = await serve(t, { upgrade: (socket) => socket.write(`${head}early`) });
  const waiting = waitingFor();
  const changed = await callUpgrade(changing.ask(upgrading), waiting);
  assert.ok(changed.ok);
  const [first] = await once(changed.value.socket, "data");
  assert.deepEqual([String(first), changed.value.headers["x-id"], waiting.clock.timers()], ["early", "7", 0]);
  changed.value.socket.destroy();

  const statuses = [200, 404];
  const plain = await serve(t, { answer: (_, response) => response.writeHead(statuses.shift() ?? 500).end("no") });
  const told = [await callUpgrade(plain.ask(upgrading), waiting), await callUpgrade(plain.ask(upgrading), waiting)];
  assert.deepEqual(
    told.map((one) => one.ok || one.failure),
    [
      { why: "broken_off", status: 0, said: "not attached" },
      { why: "refused", status: 404, said: "no" },
    ],
  );
  await until("no connection is left", () => plain.sockets.size === 0);
  const gone = await serve(t, { upgrade: (socket) => socket.destroy() });
  const lost = await changeProtocol(gone.ask(upgrading), waiting);
  assert.deepEqual(lost.ok || lost.failure, { why: "broken_off", status: 0, said: "ECONNRESET" });
});
