import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createTcpServer, type Socket } from "node:net";
import { test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { manualClock } from "../../test/world/manual-clock.ts";
import { noteWeb, siteServer } from "../../test/world/web.ts";
import type { WebAnswer, WebRequest } from "./web.ts";

const { signal } = new AbortController();
const outside = async () => ["93.184.215.14"];

type Site = Parameters<typeof siteServer>[1];
type Test = { after(end: () => unknown): void };

/** A site of the web that is really on this machine, under any name. */
async function site(t: Test, listener: Site, wanted: Parameters<typeof noteWeb>[0] = {}) {
  const port = await siteServer(t, listener);
  const { web, called } = noteWeb({ lookup: outside, reach: () => port, ...wanted });
  const ask = async (url: string, more: Partial<WebRequest> = {}) => fateOf(await web.fetch({ url, signal, ...more }));
  return { ask, called, port };
}

function fateOf(
  answer: { ok: true; value: WebAnswer } | { ok: false; failure: { code: string; params: { why?: string } } },
) {
  if (!answer.ok) return `${answer.failure.code} ${answer.failure.params.why}`;
  const { status, bytes, isCut } = answer.value;
  return `${status} ${bytes.length > 40 ? `${bytes.length} bytes` : bytes.toString()}${isCut ? " and more" : ""}`;
}

test("an answer comes as it is: status, headers, content, whatever it was packed in [T2]", async (t) => {
  const packed = { gzip: gzipSync("hello"), deflate: deflateSync("hello"), br: brotliCompressSync("hello") };
  const { ask } = await site(t, (request, response) => {
    const [, name = ""] = request.url?.split("/") ?? [];
    const bytes = Reflect.get(packed, name);
    if (bytes !== undefined) response.setHeader("content-encoding", name);
    response.writeHead(name === "404" ? 404 : 200).end(bytes ?? "plain");
  });
  const urls = ["gzip", "deflate", "br", "plain", "404"].map((name) => `http://a.example/${name}`);
  const fates: string[] = [];
  for (const url of urls) fates.push(await ask(url));
  assert.deepEqual(fates, ["200 hello", "200 hello", "200 hello", "200 plain", "404 plain"]);
});

test("an answer is read up to the limit and not a byte further, and a packed bomb ends there, too [T7]", async (t) => {
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  const { ask } = await site(
    t,
    (request, response) => {
      if (request.url === "/bomb") response.setHeader("content-encoding", "gzip").end(bomb);
      else response.end(Buffer.alloc(request.url === "/fits" ? 1_000 : 1_001));
    },
    { settings: { bytesMax: 1_000 } },
  );
  assert.equal(await ask("http://a.example/fits"), "200 1000 bytes");
  assert.equal(await ask("http://a.example/more"), "200 1000 bytes and more");
  assert.equal(await ask("http://a.example/bomb"), "200 1000 bytes and more");
  assert.equal(await ask("http://a.example/fits", { bodyBytesMax: 999 }), "200 999 bytes and more");
});

test("a server that drips, or says nothing, is left when the time is up [T7]", async (t) => {
  for (const path of ["/silent", "/drip"]) {
    const clock = manualClock();
    const waits = Promise.withResolvers<void>();
    const { ask } = await site(
      t,
      (request, response) => {
        if (request.url === "/drip") response.write("x");
        waits.resolve();
      },
      { clock },
    );
    const fate = ask(`http://a.example${path}`);
    await waits.promise;
    clock.move(30_000);
    assert.equal(await fate, "web_fetch_failed timeout");
  }
});

test("who no longer waits is not waited for [T7]", async (t) => {
  const stop = new AbortController();
  const waits = Promise.withResolvers<void>();
  const { ask } = await site(t, () => waits.resolve());
  const fate = ask("http://a.example/", { signal: stop.signal });
  await waits.promise;
  stop.abort();
  assert.equal(await fate, "web_fetch_failed stopped");
});

test("a name that nobody looks up, of the site or of the proxy, is not waited for after the time or the stop [T7]", async () => {
  const never = () => new Promise<string[]>(() => {});
  const proxies = [{}, { HTTPS_PROXY: "http://proxy.example:3128" }];
  for (const proxyEnv of proxies) {
    const asked = Promise.withResolvers<void>();
    const lookup = (host: string) => {
      const isLast = proxyEnv.HTTPS_PROXY === undefined || host === "proxy.example";
      if (isLast) asked.resolve();
      return isLast ? never() : outside();
    };
    const stop = new AbortController();
    const stopped = noteWeb({ lookup, proxyEnv }).web.fetch({ url: "https://a.example/", signal: stop.signal });
    await asked.promise;
    stop.abort();
    assert.equal(fateOf(await stopped), "web_fetch_failed stopped");
  }
});

test("redirects are followed as often as may be, and a circle comes to an end [T7]", async (t) => {
  const { ask, called } = await site(t, (request, response) => {
    const left = Number(request.url?.slice(1));
    if (left === 0) response.end("there");
    else response.writeHead(302, { location: `/${left - 1}` }).end();
  });
  assert.equal(await ask("http://a.example/5"), "200 there");
  assert.equal(await ask("http://a.example/6"), "web_fetch_failed redirects");
  // Each hop has a connection of its own, to an address that was looked at for it.
  assert.equal(called.length, 12);
});

test("what was meant for one site is not carried to another: neither headers nor bodies [T7]", async (t) => {
  const heard: unknown[] = [];
  const { ask } = await site(t, (request, response) => {
    const { host, authorization, cookie, "x-key": key } = request.headers;
    heard.push([request.method, host, authorization, cookie, key]);
    if (host === "b.example") return void response.end("b");
    response.writeHead(307, { location: request.url === "/same" ? "/x" : "http://b.example/" }).end();
  });
  const headers = { authorization: "Bearer t", cookie: "c=1", "x-key": "k" };
  assert.equal(await ask("http://a.example/away", { headers }), "200 b");
  assert.equal(await ask("http://a.example/away", { method: "POST", headers, body: "secret" }), "307 ");
  assert.deepEqual(heard, [
    ["GET", "a.example", "Bearer t", "c=1", "k"],
    ["GET", "b.example", undefined, undefined, undefined],
    ["POST", "a.example", "Bearer t", "c=1", "k"],
  ]);
});

test("answers that are no HTTP, or break off, or are too long in front, are told as that [T7]", async (t) => {
  const answers: Readonly<Record<string, string>> = {
    "/garbage": "\0\0\0\0nonsense\r\n\r\n",
    "/cut": "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf",
    "/gone": "",
    "/headers": `HTTP/1.1 200 OK\r\nx: ${"y".repeat(70_000)}\r\n\r\n`,
    "/packed": "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 5\r\n\r\nplain",
    "/strange": "HTTP/1.1 200 OK\r\ncontent-encoding: lzma\r\ncontent-length: 5\r\n\r\nplain",
    "/upgrade": "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
  };
  const server = createTcpServer((socket: Socket) => {
    socket.on("error", () => {});
    socket.once("data", (bytes) => socket.end(answers[bytes.toString().split(" ")[1] ?? ""] ?? ""));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const { web } = noteWeb({ lookup: outside, reach: () => port });
  const fates: string[] = [];
  for (const path of Object.keys(answers))
    fates.push(fateOf(await web.fetch({ url: `http://a.example${path}`, signal })));
  const whys = ["broken", "broken", "broken", "headers", "encoding", "encoding", "broken"];
  assert.deepEqual(
    fates,
    whys.map((why) => `web_fetch_failed ${why}`),
  );
  // The next one is as good as ever.
  assert.equal(fateOf(await web.fetch({ url: "http://a.example/cut", signal })), "web_fetch_failed broken");
});

test("a site by https must show a certificate for its name [T7]", async (t) => {
  const { ask } = await site(t, (_, response) => response.end("no tls here"));
  assert.equal(await ask("https://a.example/"), "web_fetch_failed tls");
});

test("a name that nobody knows, and a host that nobody answers at, are told apart [T7]", async () => {
  const { web } = noteWeb({ lookup: async (host) => (host === "known.example" ? ["93.184.215.14"] : []) });
  assert.equal(fateOf(await web.fetch({ url: "https://none.example/", signal })), "web_fetch_failed unknown");
  assert.equal(fateOf(await web.fetch({ url: "https://known.example/", signal })), "web_fetch_failed unreachable");
});
