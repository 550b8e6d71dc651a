import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createConnection } from "node:net";
import { test } from "node:test";
import { noteWeb, siteServer } from "../../test/world/web.ts";
import { kindOf } from "./address.ts";
import { isAmong, patternOf } from "./allowed.ts";
import { placeOf } from "./place.ts";
import { proxyFor } from "./proxy-env.ts";

test("addresses are told apart: those of everybody, those that an operator may open, and those of nobody [X5]", () => {
  const addresses = {
    public: ["8.8.8.8", "172.32.0.1", "100.63.0.1", "2606:4700::1111", "2a00:1450:4001::200e"],
    private: [
      ...["10.0.0.1", "127.0.0.1", "127.255.255.254", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1"],
      ...["192.0.2.1", "198.18.0.1", "::1", "fd00::1", "fc00::1", "2001:db8::1", "::7f00:1", "4000::1"],
    ],
    never: [
      ...["0.0.0.0", "0.1.2.3", "169.254.169.254", "224.0.0.1", "240.0.0.1", "255.255.255.255", "168.63.129.16"],
      ...["100.100.100.200", "fd00:ec2::254", "::", "::ffff:8.8.8.8", "::ffff:7f00:1", "64:ff9b::8.8.8.8", "ff02::1"],
      ...["2002:7f00:1::", "2001:0:1::", "fe80::1", "fe80::1%lo", "localhost", "2130706433", "0177.0.0.1", ""],
    ],
  };
  for (const [kind, all] of Object.entries(addresses))
    for (const address of all) assert.deepEqual([address, kindOf(address)], [address, kind]);
});

test("a host is allowed by its whole name and its port; a star stands for what is below a name [X5]", () => {
  const patterns = ["pypi.org", "*.example.com", "mirror.local:8080", "*.cdn.test:444", "[::1]:8090", "[fd00::5]"];
  const allowed = ["pypi.org 443", "pypi.org 80", "a.example.com 443", "a.b.example.com 80", "mirror.local 8080"];
  const named = ["a.cdn.test 444", "::1 8090", "fd00::5 443"];
  const refused = ["pypi.org 22", "x.pypi.org 443", "example.com 443", "badexample.com 443", ".example.com 443"];
  const atPort = ["a.example.com 8080", "mirror.local 443", "::1 443"];
  const isAllowed = (one: string) => isAmong(patterns, one.split(" ")[0] ?? "", Number(one.split(" ")[1]));
  assert.deepEqual([...allowed, ...named, ...refused, ...atPort].filter(isAllowed), [...allowed, ...named]);
  const urls = ["https://pypi.org/simple", "http://Mirror.local:8080/x", "http://a.test", "https://u:p@b.test:1/"];
  assert.deepEqual(urls.map(patternOf), ["pypi.org:443", "mirror.local:8080", "a.test:80", "b.test:1"]);
});

const { signal } = new AbortController();

test("NO_PROXY is read as other programs read it [T7]", () => {
  const cases: readonly (readonly [noProxy: string, url: string, isDirect: boolean])[] = [
    ["", "http://a.example/", false],
    ["*", "http://a.example/", true],
    ["a.example", "http://a.example/", true],
    ["a.example", "http://b.a.example/", true],
    ["a.example", "http://aa.example/", false],
    [".a.example, b.test", "http://x.a.example/", true],
    ["b.test:8080", "http://b.test:8080/", true],
    ["b.test:8080", "http://b.test/", false],
    ["::1", "http://[::1]/", true],
    ["[::1]:8080", "http://[::1]:8080/", true],
  ];
  for (const [noProxy, url, isDirect] of cases) {
    const place = placeOf(url);
    assert.ok(place.ok);
    const proxy = proxyFor(place.value, { HTTP_PROXY: "http://proxy.test:3128", NO_PROXY: noProxy });
    assert.deepEqual([noProxy, url, proxy === undefined], [noProxy, url, isDirect]);
  }
});

/** A proxy that knows CONNECT, and where all of it really ends. */
async function proxyServer(t: { after(end: () => unknown): void }, end: number) {
  const asked: string[] = [];
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on("connect", (request, socket) => {
    asked.push(`${request.url} ${request.headers["proxy-authorization"] ?? "-"}`);
    if (request.url?.startsWith("9.9.9.9:")) return void socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    const there = createConnection(end, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      there.pipe(socket).pipe(there);
    });
    there.on("error", () => socket.destroy());
    socket.on("error", () => there.destroy());
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return { asked, port: typeof address === "object" && address !== null ? address.port : 0 };
}

test("through a proxy the same addresses are refused, and it is asked for the address that was looked at [T7]", async (t) => {
  const heard: unknown[] = [];
  const site = await siteServer(t, (request, response) => {
    heard.push(request.headers.host);
    if (request.url === "/away") return void response.writeHead(302, { location: "http://10.0.0.1/" }).end();
    response.end("by proxy");
  });
  const proxy = await proxyServer(t, site);
  const addresses: Readonly<Record<string, string[]>> = {
    "proxy.corp": ["10.9.9.9"],
    "inside.example": ["10.0.0.1"],
    "wiki.corp": ["10.0.0.2"],
    "closed.example": ["9.9.9.9"],
    "a.example": ["93.184.215.14"],
  };
  const { web, called } = noteWeb({
    lookup: async (host) => addresses[host] ?? [],
    reach: (address) => (address === "10.9.9.9" ? proxy.port : site),
    proxyEnv: { HTTP_PROXY: "http://me:p%40ss@proxy.corp:3128", HTTPS_PROXY: "http://proxy.corp:3128" },
    settings: { privateHosts: ["wiki.corp"] },
  });
  const fateOf = async (url: string) => {
    const answer = await web.fetch({ url, signal });
    return answer.ok ? answer.value.bytes.toString() : `${answer.failure.code} ${answer.failure.params.why}`;
  };
  assert.equal(await fateOf("http://a.example/"), "by proxy");
  assert.equal(await fateOf("http://a.example/away"), "web_address_refused private");
  assert.equal(await fateOf("http://inside.example/"), "web_address_refused private");
  assert.equal(await fateOf("http://nowhere.example/"), "web_fetch_failed unknown");
  assert.equal(await fateOf("http://closed.example/"), "web_fetch_failed proxy");
  // What lies inside is not on the other side of the way out.
  assert.equal(await fateOf("http://wiki.corp/"), "by proxy");
  const credentials = `Basic ${Buffer.from("me:p@ss").toString("base64")}`;
  assert.deepEqual(proxy.asked, [
    `93.184.215.14:80 ${credentials}`,
    `93.184.215.14:80 ${credentials}`,
    `9.9.9.9:80 ${credentials}`,
  ]);
  assert.deepEqual(called, ["10.9.9.9:3128", "10.9.9.9:3128", "10.9.9.9:3128", "10.0.0.2:80"]);
  assert.deepEqual(heard, ["a.example", "a.example", "wiki.corp"]);
});

test("names that only the proxy knows are left to it where the operator says so, addresses never [T7]", async (t) => {
  const site = await siteServer(t, (_, response) => response.end("found"));
  const proxy = await proxyServer(t, site);
  const { web } = noteWeb({
    lookup: async (host) => (host === "proxy.corp" ? ["10.9.9.9"] : []),
    reach: () => proxy.port,
    proxyEnv: { HTTP_PROXY: "http://proxy.corp:3128" },
    settings: { proxyFindsNames: true },
  });
  const whys: unknown[] = [];
  for (const url of [
    "http://far.example/",
    "http://127.0.0.1/",
    "http://localhost/",
    "http://intranet/",
    "http://x.internal/",
  ]) {
    const answer = await web.fetch({ url, signal });
    whys.push(answer.ok ? answer.value.bytes.toString() : answer.failure.params.why);
  }
  assert.deepEqual(whys, ["found", "private", "private", "private", "private"]);
  assert.deepEqual(proxy.asked, ["far.example:80 -"]);
});
