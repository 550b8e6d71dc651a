import assert from "node:assert/strict";
import { once } from "node:events";
import { createConnection, createServer } from "node:net";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { noteWeb, siteServer } from "../../test/world/web.ts";

const outside = "93.184.215.14";
const inside = "10.0.0.7";

/** Names of services: one out there, one in the private network, and what they may lead to. */
const lookup = async (host: string) =>
  host.endsWith(".example") ? [outside] : host === "service.corp.test" ? [inside] : [];

type Site = Parameters<typeof siteServer>[1];

async function services(t: { after(end: () => unknown): void }, listener: Site) {
  const port = await siteServer(t, listener);
  return noteWeb({ lookup, reach: () => port });
}

/** The answer, or the words of what was thrown. */
async function fateOf(answer: Promise<Response>): Promise<string> {
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
    if (place === "http://localhost") assert.equal(await fateOf(first), "fetch failed ENOTFOUND");
    else assert.equal(await fateOf(first), "200 POST yes hello");
  }
  assert.deepEqual(called, [`${outside}:4100`, "127.0.0.1:9000", "::1:9000"]);
  const fetch = web.fetchFor("https://service.example/");
  assert.equal(await fateOf(fetch("http://service.example/packed")), "200 packed");
  assert.equal(await fateOf(fetch("http://service.example/none")), "204 ");
  assert.equal(await fateOf(fetch("http://service.example/strange")), "fetch failed EENCODING");
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
      await fateOf(out(url, { headers })),
      `the address ${host} is not reached (${why}): it was named by the server, not in the settings`,
    );
  }
  assert.deepEqual(new Set(called), new Set([`${outside}:4100`]));
  seen.length = 0;
  assert.equal(await fateOf(out(to("http://other.example/"), { headers })), "200 here");
  assert.deepEqual(seen, ["service.example:4100 GET Bearer x", "other.example GET -"]);
  assert.equal(await fateOf(out(to("/next"), { method: "POST", body: "secret", headers })), "307 ");
  assert.equal(await fateOf(out(to("/next"), { redirect: "manual" })), "307 ");

  called.length = 0;
  const within = web.fetchFor("http://service.corp.test:4100/");
  const from = `http://service.corp.test:4100/?to=${encodeURIComponent("http://10.0.0.8:9/")}`;
  assert.equal(await fateOf(within(from)), "200 here");
  assert.deepEqual(called, [`${inside}:4100`, "10.0.0.8:9"]);
  const never = `http://service.corp.test:4100/?to=${encodeURIComponent("http://169.254.169.254/")}`;
  assert.match(await fateOf(within(never)), /169\.254\.169\.254 is not reached \(never\)/);
  assert.equal(await fateOf(within("http://service.corp.test:4100/circle")), "fetch failed EREDIRECTS");
});

test("a name that begins to mean an address of this network is not followed there [T7][G1]", async (t) => {
  const port = await siteServer(t, (_, response) => response.end("here"));
  const addresses = [[outside], [outside], [inside], [inside]];
  const { web, called } = noteWeb({ lookup: async () => addresses.shift() ?? [], reach: () => port });
  const fetch = web.fetchFor("http://service.example/");
  assert.equal(await fateOf(fetch("http://service.example/")), "200 here");
  assert.match(await fateOf(fetch("http://service.example/")), /service\.example is not reached \(private\)/);
  assert.deepEqual(called, [`${outside}:80`]);
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
  assert.equal(await fateOf(web.fetchFor("http://service.example/")("http://service.example/")), "200 through");
  assert.deepEqual(asked, [`CONNECT ${outside}:80 HTTP/1.1`]);
  const within = web.fetchFor("http://service.corp.test:4100/");
  assert.equal(await fateOf(within("http://service.corp.test:4100/")), "200 through");
  assert.deepEqual([asked.length, called], [1, [`127.0.0.1:${port}`, `${inside}:4100`]]);
});
