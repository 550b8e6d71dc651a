import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createTlsServer } from "node:https";
import { createConnection, createServer, createServer as createTcpServer, type Socket } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
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

test("a name that nobody knows, and a host that nobody answers at, are told apart [T7]", async () => {
  const { web } = noteWeb({ lookup: async (host) => (host === "known.example" ? ["93.184.215.14"] : []) });
  assert.equal(fateOf(await web.fetch({ url: "https://none.example/", signal })), "web_fetch_failed unknown");
  assert.equal(fateOf(await web.fetch({ url: "https://known.example/", signal })), "web_fetch_failed unreachable");
});

const outsideAddress = "93.184.215.14";
const inside = "10.0.0.7";

/** Names of services: one out there, one in the private network, and what they may lead to. */
const lookup = async (host: string) =>
  host.endsWith(".example") ? [outsideAddress] : host === "service.corp.test" ? [inside] : [];

async function services(t: { after(end: () => unknown): void }, listener: Site) {
  const port = await siteServer(t, listener);
  return noteWeb({ lookup, reach: () => port });
}

/** The answer, or the words of what was thrown. */
async function endOf(answer: Promise<Response>): Promise<string> {
  try {
    const response = await answer;
    return `${response.status} ${await response.text()}`;
  } catch (error) {
    const { message = "", cause } = error instanceof Error ? error : {};
    return `${message}${cause instanceof Error && "code" in cause ? ` ${cause.code}` : ""}`;
  }
}

test("a service is reached where the operator says, also inside and at any port, and answers as by fetch [G1][T7]", async (t) => {
  const { web, called } = await services(t, (request, response) => {
    if (request.url === "/packed") return void response.setHeader("content-encoding", "gzip").end(gzipSync("packed"));
    if (request.url === "/none") return void response.writeHead(204).end();
    if (request.url === "/strange") return void response.setHeader("content-encoding", "zip").end("?");
    request.setEncoding("utf8").once("data", (body: string) => {
      response.setHeader("set-cookie", ["a=1", "b=2"]).end(`${request.method} ${request.headers["x-own"]} ${body}`);
    });
  });
  for (const place of [
    "http://service.example:4100",
    "http://127.0.0.1:9000",
    "http://[::1]:9000",
    "http://localhost",
  ]) {
    const fetch = web.fetchFor(`${place}/mcp`);
    const sent = { method: "POST", headers: { "x-own": "yes" }, body: "hello" };
    const first = fetch(`${place}/mcp`, sent);
    if (place === "http://localhost") assert.equal(await endOf(first), "fetch failed ENOTFOUND");
    else assert.equal(await endOf(first), "200 POST yes hello");
  }
  assert.deepEqual(called, [`${outsideAddress}:4100`, "127.0.0.1:9000", "::1:9000"]);
  const fetch = web.fetchFor("https://service.example/");
  assert.equal(await endOf(fetch("http://service.example/packed")), "200 packed");
  assert.equal(await endOf(fetch("http://service.example/none")), "204 ");
  assert.equal(await endOf(fetch("http://service.example/strange")), "fetch failed EENCODING");
  const form = await fetch("http://service.example/", { method: "POST", body: new URLSearchParams({ a: "b c" }) });
  assert.deepEqual([await form.text(), form.headers.getSetCookie()], ["POST undefined a=b+c", ["a=1", "b=2"]]);
});

test("an answer without an end is heard as it comes, and left when nobody listens any more [G1]", async (t) => {
  const closed = Promise.withResolvers<void>();
  const { web } = await services(t, (request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
    request.once("close", closed.resolve);
  });
  const stop = new AbortController();
  const { body } = await web.fetchFor("http://service.example/")("http://service.example/", { signal: stop.signal });
  const reader = body?.getReader();
  const piece = await reader?.read();
  assert.equal(Buffer.from(piece?.value ?? []).toString(), "data: 1\n\n");
  stop.abort();
  await assert.rejects(async () => reader?.read(), { name: "AbortError" });
  await closed.promise;
  const late = web.fetchFor("http://service.example/")("http://service.example/", { signal: AbortSignal.abort() });
  await assert.rejects(late, { name: "AbortError" });
});

test("what a service leads to is judged: only who is inside may lead inside, and nothing that is sent is sent on [T7][G1]", async (t) => {
  const seen: string[] = [];
  const { web, called } = await services(t, (request, response) => {
    seen.push(`${request.headers.host} ${request.method} ${request.headers.authorization ?? "-"}`);
    const [, to] = request.url === "/circle" ? ["", "/circle"] : (request.url?.split("?to=") ?? []);
    if (to === undefined) response.end("here");
    else response.writeHead(307, { location: decodeURIComponent(to) }).end();
  });
  const headers = { authorization: "Bearer x" };
  const out = web.fetchFor("http://service.example:4100/");
  const to = (place: string) => `http://service.example:4100/?to=${encodeURIComponent(place)}`;
  const refused = [
    [to("http://10.0.0.8/"), "10.0.0.8", "private"],
    [to("http://127.0.0.1:4100/"), "127.0.0.1:4100", "private"],
    [to("http://169.254.169.254/latest/meta-data"), "169.254.169.254", "never"],
    [to("http://service.corp.test/"), "service.corp.test", "private"],
    [to("http://other.example:4100/"), "other.example:4100", "port"],
    ["http://localhost:8080/", "localhost:8080", "private"],
  ] as const;
  for (const [url, host, why] of refused) {
    assert.equal(
      await endOf(out(url, { headers })),
      `the address ${host} is not reached (${why}): it was named by the server, not in the settings`,
    );
  }
  assert.deepEqual(new Set(called), new Set([`${outsideAddress}:4100`]));
  seen.length = 0;
  assert.equal(await endOf(out(to("http://other.example/"), { headers })), "200 here");
  assert.deepEqual(seen, ["service.example:4100 GET Bearer x", "other.example GET -"]);
  assert.equal(await endOf(out(to("/next"), { method: "POST", body: "secret", headers })), "307 ");
  assert.equal(await endOf(out(to("/next"), { redirect: "manual" })), "307 ");

  called.length = 0;
  const within = web.fetchFor("http://service.corp.test:4100/");
  const from = `http://service.corp.test:4100/?to=${encodeURIComponent("http://10.0.0.8:9/")}`;
  assert.equal(await endOf(within(from)), "200 here");
  assert.deepEqual(called, [`${inside}:4100`, "10.0.0.8:9"]);
  const never = `http://service.corp.test:4100/?to=${encodeURIComponent("http://169.254.169.254/")}`;
  assert.match(await endOf(within(never)), /169\.254\.169\.254 is not reached \(never\)/);
  assert.equal(await endOf(within("http://service.corp.test:4100/circle")), "fetch failed EREDIRECTS");
});

test("a name that begins to mean an address of this network is not followed there [T7][G1]", async (t) => {
  const port = await siteServer(t, (_, response) => response.end("here"));
  const addresses = [[outsideAddress], [outsideAddress], [inside], [inside]];
  const { web, called } = noteWeb({ lookup: async () => addresses.shift() ?? [], reach: () => port });
  const fetch = web.fetchFor("http://service.example/");
  assert.equal(await endOf(fetch("http://service.example/")), "200 here");
  assert.match(await endOf(fetch("http://service.example/")), /service\.example is not reached \(private\)/);
  assert.deepEqual(called, [`${outsideAddress}:80`]);
});

test("a service out there is reached through the proxy, and one inside without it [G1][T2]", async (t) => {
  const site = await siteServer(t, (_, response) => response.end("through"));
  const asked: string[] = [];
  const proxy = createServer((socket) => {
    socket.once("data", (head) => {
      asked.push(head.toString().split("\r\n", 1)[0] ?? "");
      const to = createConnection(site, "127.0.0.1", () => socket.write("HTTP/1.1 200 OK\r\n\r\n"));
      socket.pipe(to).pipe(socket);
      to.on("error", () => socket.destroy());
    });
    socket.on("error", () => {});
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  t.after(() => proxy.close());
  const place = proxy.address();
  const port = typeof place === "object" && place !== null ? place.port : 0;
  const { web, called } = noteWeb({
    lookup,
    proxyEnv: { HTTP_PROXY: `http://127.0.0.1:${port}` },
    reach: (_, wanted) => (wanted === port ? port : site),
  });
  assert.equal(await endOf(web.fetchFor("http://service.example/")("http://service.example/")), "200 through");
  assert.deepEqual(asked, [`CONNECT ${outsideAddress}:80 HTTP/1.1`]);
  const within = web.fetchFor("http://service.corp.test:4100/");
  assert.equal(await endOf(within("http://service.corp.test:4100/")), "200 through");
  assert.deepEqual([asked.length, called], [1, [`127.0.0.1:${port}`, `${inside}:4100`]]);
});

// A site with a certificate of an authority that nobody knows but this test (`test/data/tls`, good until 2126).

const folder = join(import.meta.dirname, "../../test/data/tls");
const world = join(import.meta.dirname, "../../test/world/web.ts");

/** What a process asks, one address after the other, by both ways out; the site is the same under each name. */
const asking = (port: number) => `
  const { noteWeb } = await import(${JSON.stringify(world)});
  const { web } = noteWeb({ lookup: async () => ["93.184.215.14"], reach: () => ${port} });
  const { signal } = new AbortController();
  for (const url of ["https://site.example/", "https://other.example/"]) {
    const answer = await web.fetch({ url, signal });
    console.log(answer.ok ? answer.value.bytes.toString() : answer.failure.params.why);
    await web.fetchFor(url)(url).then(
      async (response) => console.log(await response.text()),
      (error) => console.log(error.cause.code),
    );
  }`;

test("a site by https is reached where its authority is known, by its own name and by no other [T7][T2]", async (t) => {
  const [key, cert] = ["site.key", "site.pem"].map((name) => readFileSync(join(folder, name), "utf8"));
  const heard: string[] = [];
  const server = createTlsServer({ key, cert }, (request, response) => {
    heard.push(String(request.headers.host));
    response.end("well met");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const place = server.address();
  const port = typeof place === "object" && place !== null ? place.port : 0;
  const asked = async (env: object) => {
    const args = ["--input-type=module", "-e", asking(port)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...env } });
    return stdout.trim().split("\n");
  };
  const known = await asked({ NODE_EXTRA_CA_CERTS: join(folder, "authority.pem") });
  assert.deepEqual(known, ["well met", "well met", "tls", "ETLS"]);
  assert.deepEqual(heard, ["site.example", "site.example"]);
  assert.deepEqual(await asked({}), ["tls", "ETLS", "tls", "ETLS"]);
});
