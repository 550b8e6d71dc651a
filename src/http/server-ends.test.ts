import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { manualClock } from "../../test/world/manual-clock.ts";
import type { App } from "./door.ts";
import { isLoopbackHost, type ListenOptions, listen } from "./server.ts";

type Fetch = (request: Request) => Response | Promise<Response>;

/** A server on a clock that the test moves, and a way to write to it byte by byte. */
async function opened(t: TestContext, fetch: Fetch, options: Partial<ListenOptions> = {}) {
  const clock = manualClock();
  const app: Pick<App, "fetch"> = { fetch };
  const server = await listen(app, { host: "127.0.0.1", port: 0 }, { clock, ...options });
  assert.ok(server.ok);
  const { port } = new URL(server.value.address);
  const sockets: Socket[] = [];
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    await server.value.close();
  });
  const send = (head: string, body = "") => {
    const socket = connect({ port: Number(port), host: "127.0.0.1" });
    sockets.push(socket);
    socket.write(`${head} HTTP/1.1\r\nhost: here\r\n`);
    socket.write(body);
    return socket;
  };
  return { clock, send, close: server.value.close };
}

const chunked = "transfer-encoding: chunked\r\n\r\n";

test("a stranger who sends all of a body waits for the answer as long as it takes, and one who does not is cut off [C6][Q1]", async (t) => {
  const [begun, late] = [Promise.withResolvers<void>(), Promise.withResolvers<Response>()];
  const { clock, send } = await opened(t, async (request) => {
    if (request.url.endsWith("/early")) {
      // Its body is still wanted while the answer goes out.
      await request.body?.getReader().read();
      return new Response(new ReadableStream({ start: (all) => all.enqueue(Buffer.from("early")) }));
    }
    if (request.url.endsWith("/soon")) return new Response(await request.text());
    // All of it has come, and nobody has read it yet.
    if (request.url.endsWith("/unread")) begun.resolve();
    else await request.text();
    return late.promise;
  });
  const whole = send("POST /unread", `connection: close\r\n${chunked}1\r\na\r\n0\r\n\r\n`);
  await begun.promise;
  const slow = send("POST /", `${chunked}1\r\na\r\n`);
  const early = send("POST /early", `${chunked}1\r\na\r\n`);
  let heard = "";
  early.on("data", (piece) => {
    heard += piece;
  });
  const broken = new Promise((resolve) => early.on("error", () => {}).once("close", resolve));
  await once(early, "data");
  while (clock.timers() < 3) await new Promise((resolve) => setImmediate(resolve));
  clock.move(30_000);
  assert.match(await text(slow), /^HTTP\/1\.1 408 /);
  await broken;
  assert.match(heard, /^HTTP\/1\.1 200 (?![\s\S]*408)/, "half an answer is not answered again");
  late.resolve(new Response("in time"));
  assert.match(await text(whole), /^HTTP\/1\.1 200 [\s\S]*in time/);
  assert.match(await text(send("POST /soon", `connection: close\r\n${chunked}1\r\na\r\n0\r\n\r\n`)), /\r\n\r\na$/);
  for (let turn = 0; turn < 10 && clock.timers() > 0; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(clock.timers(), 0, "whoever was served is not waited for");
});

test("whoever announces a body and falls silent does not hold the connection [C6][Q1]", async (t) => {
  const { send } = await opened(t, async (request) => new Response(await request.text().catch(() => "gone")), {
    silenceMsMax: 50,
  });
  const silent = send("POST /", "content-length: 10\r\n\r\na");
  silent.resume();
  await once(silent, "close");
});

test("a server that ends lets requests finish for two seconds and no longer, and connections that rest close at once [L6][C6]", async (t) => {
  const asked = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const answers = [Promise.withResolvers<Response>(), Promise.withResolvers<Response>()];
  const { clock, send, close } = await opened(t, async (request) => {
    const index = request.url.endsWith("/stuck") ? 1 : 0;
    asked[index]?.resolve();
    return (await answers[index]?.promise) ?? new Response(null);
  });
  const [soon, stuck] = [send("GET /soon", "\r\n"), send("GET /stuck", "\r\n")];
  await Promise.all(asked.map(({ promise }) => promise));
  let isClosed = false;
  const closed = close().then(() => {
    isClosed = true;
  });
  clock.move(1_999);
  answers[0]?.resolve(new Response("in time"));
  // It was not asked to close this connection after its answer: that it rests is enough.
  assert.match(await text(soon), /in time$/);
  assert.equal(isClosed, false);
  const end = text(stuck).catch(() => "");
  clock.move(1);
  assert.equal(await end, "");
  await closed;
  assert.equal(clock.timers(), 0);
});

test("a server that nobody calls closes at once, and leaves no timer [L6]", async (t) => {
  const { clock, send, close } = await opened(t, () => new Response("here"));
  const rests = send("GET /", "\r\n");
  const [first] = await once(rests, "data");
  assert.match(String(first), /keep-alive: timeout=75\r\n/i, "longer than proxies keep theirs");
  await Promise.all([close(), once(rests.resume(), "close")]);
  assert.equal(clock.timers(), 0);
});

test("only addresses of this machine are those that nobody else can call [C6]", () => {
  const own = ["localhost", "::1", "127.0.0.1", "127.8.9.10"];
  const others = ["0.0.0.0", "::", "10.0.0.1", "127.example.com", "128.0.0.1", "fe80::1", "localhost.example.com"];
  assert.deepEqual([...own, ...others].filter(isLoopbackHost), own);
});
