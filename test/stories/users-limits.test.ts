import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { peopledYard } from "../world/callers.ts";

/** However slow the machine is, all of it is within one minute. */
const clock = { ...systemClock, monotonic: () => 0 };

test("one caller too often is told when to come back; others are not held up, and the operator never [C6]", async () => {
  await using yard = await peopledYard({ requestsPerMinuteMax: 3 }, { clock });
  const [ann, bob] = [await yard.keyOf("ann"), await yard.keyOf("bob")];
  const ask = (key?: string) =>
    yard.call("GET /api/v1/models", { ...(key !== undefined && { authorization: `Bearer ${key}` }) });
  const rest = async (key: string) => (await ask(key)).headers.get("ratelimit-remaining");
  assert.deepEqual([await rest(ann), await rest(ann), await rest(ann)], ["2", "1", "0"]);
  const refused = await ask(ann);
  assert.deepEqual([refused.status, refused.code], [429, "rate_limited"]);
  const seconds = Number(refused.headers.get("retry-after"));
  assert.ok(seconds >= 1 && seconds <= 60, String(seconds));
  assert.equal(refused.headers.get("ratelimit-limit"), "3");
  assert.equal((await ask(bob)).status, 200);
  assert.equal((await yard.client.call("listUsers")).ok, true);
  const strangers = [await ask(), await ask(), await ask(), await ask(), await ask("ay_wrong")];
  assert.deepEqual(
    strangers.map(({ status }) => status),
    [401, 401, 401, 429, 429],
    "by address, whoever they claim to be",
  );
  const { call } = yard;
  const elsewhere = await call("GET /api/v1/models", { address: "10.1.2.3" });
  assert.equal(elsewhere.code, "sign_in_required");
  const homes = ["2001:db8:1:2::1", "2001:db8:1:2::2", "2001:db8:1:2:ffff::", "2001:db8:1:2::4"];
  const fromHome = [];
  for (const address of homes) fromHome.push((await call("GET /api/v1/models", { address })).status);
  assert.deepEqual(fromHome, [401, 401, 401, 429], "one home of IPv6 is one place");
});

test("who is alone on this machine is stopped only when a program runs wild [C6]", async () => {
  await using yard = await peopledYard({ requestsPerMinuteMax: 3 }, { clock });
  const asked = await yard.call("GET /api/v1/models");
  assert.deepEqual([asked.status, asked.headers.get("ratelimit-limit")], [200, "300"]);
});

test("all keys of a user are one caller [C6]", async () => {
  await using yard = await peopledYard({ requestsPerMinuteMax: 2 }, { clock });
  const keys = [await yard.keyOf("ann"), await yard.keyOf("ann"), await yard.keyOf("ann")];
  const statuses = [];
  for (const key of keys)
    statuses.push((await yard.call("GET /api/v1/models", { authorization: `Bearer ${key}` })).status);
  assert.deepEqual(statuses, [200, 200, 429]);
});

test("nobody is kept from signing in by others who guess, and what works does not count [C6]", async () => {
  await using yard = await peopledYard({ signInsPerMinuteMax: 2 }, { clock });
  await yard.addUser({ id: "ann", password: "a good password" });
  const signIn = async (address: string, password: string) =>
    (await yard.call("POST /api/v1/sign-in", { address, body: { user: "ann", password } })).code || "in";
  const guesses = [];
  for (let n = 0; n < 60; n += 1) guesses.push(await signIn("192.0.2.1", "guess"));
  assert.deepEqual(
    [guesses.slice(0, 2), new Set(guesses.slice(2))],
    [["sign_in_failed", "sign_in_failed"], new Set(["rate_limited"])],
  );
  for (let n = 0; n < 4; n += 1) assert.equal(await signIn("192.0.2.2", "a good password"), "in");
  const form = new URLSearchParams({ user: "ann", password: "a good password" });
  for (let n = 0; n < 3; n += 1)
    assert.equal(
      (await yard.call("POST /sign-in", { address: "192.0.2.3", body: form })).status,
      303,
      "on the page, too",
    );
});

test("a try to sign in counts before anything of it is read [C6][Q1]", async () => {
  await using yard = await peopledYard({ signInsPerMinuteMax: 2 }, { clock });
  await yard.addUser({ id: "ann" });
  const body = "x".repeat(20_000);
  const json = async () => (await yard.call("POST /api/v1/sign-in", { body })).status;
  assert.deepEqual([await json(), await json(), await json()], [413, 413, 429]);
  const form = new URLSearchParams({ user: body });
  const page = async () => (await yard.call("POST /sign-in", { address: "127.0.0.2", body: form })).status;
  assert.deepEqual([await page(), await page(), await page()], [413, 413, 429]);
});

test("guessing a password is stopped by place and by name [C6]", async () => {
  await using yard = await peopledYard({ signInsPerMinuteMax: 1 }, { clock });
  await yard.addUser({ id: "ann" });
  const guess = async (address: string, user: string, password = "guess") =>
    (await yard.call("POST /api/v1/sign-in", { address, body: { user, password } })).code;
  assert.equal(await guess("127.0.0.1", "ann"), "sign_in_failed");
  assert.equal(await guess("127.0.0.1", "cat"), "rate_limited", "by place");
  // Twenty times as many from everywhere together; one was from the first place.
  for (let n = 2; n <= 20; n += 1) assert.equal(await guess(`127.0.1.${n}`, "ann"), "sign_in_failed");
  assert.equal(await guess("127.0.0.3", "ANN"), "rate_limited", "by name");
  const form = new URLSearchParams({ user: "ann", password: "guess" });
  const page = await yard.call("POST /sign-in", { address: "127.0.0.4", body: form });
  assert.deepEqual([page.status, Number(page.headers.get("retry-after")) > 0], [429, true]);
  assert.match(page.text, /role="alert"[^>]*>Too many requests/);
});

test("guessing from the many networks of one IPv6 customer is stopped as well, and keeps nobody else out [C6]", async () => {
  await using yard = await peopledYard({ signInsPerMinuteMax: 1 }, { clock });
  await yard.addUser({ id: "ann" });
  const code = async (address: string, n: number) =>
    (await yard.call("POST /api/v1/sign-in", { address, body: { user: `made-up-${n}`, password: "guess" } })).code;
  for (let n = 0; n < 10; n += 1) assert.equal(await code(`2001:db8:7:${n}::1`, n), "sign_in_failed");
  assert.equal(await code("2001:db8:7:ffff::1", 10), "rate_limited");
  assert.equal(await code("2001:db8:8::1", 11), "sign_in_failed");
});

test("what a proxy says counts only when the settings name it [C6]", async () => {
  const proxied = { trustedProxies: ["10.0.0.0/8", "::1"], trustedHosts: ["yard.example"] };
  await using yard = await peopledYard({ ...proxied, requestsPerMinuteMax: 1 }, { clock });
  await yard.keyOf("ann");
  const from = async (address: string, forwarded: string, more: Record<string, string> = {}) => {
    const sent = { address, "x-forwarded-for": forwarded, ...more };
    return (await yard.call("GET /api/v1/models", sent)).code;
  };
  assert.equal(await from("10.0.0.1", "192.0.2.1"), "sign_in_required");
  assert.equal(await from("10.0.0.2", "192.0.2.1"), "rate_limited", "the same caller through another proxy");
  assert.equal(await from("10.0.0.1", "192.0.2.9, 192.0.2.2, 10.0.0.7"), "sign_in_required");
  assert.equal(
    await from("::1", "198.51.100.1, 192.0.2.2"),
    "rate_limited",
    "what callers add in front does not count",
  );
  assert.equal(await from("::ffff:10.0.0.1", "192.0.2.3"), "sign_in_required");
  assert.equal(await from("192.0.2.50", "192.0.2.51"), "sign_in_required");
  assert.equal(await from("192.0.2.50", "192.0.2.52"), "rate_limited", "nobody hides behind a header");
  const host = { "x-forwarded-host": "yard.example", host: "inner:7420" };
  assert.equal(await from("10.0.0.1", "192.0.2.4", host), "sign_in_required");
  assert.equal(await from("192.0.2.60", "192.0.2.5", host), "forbidden_origin");
});

test("without users nobody comes in from elsewhere, whatever they call themselves [C6]", async () => {
  await using yard = await peopledYard({ host: "0.0.0.0", trustedProxies: ["127.0.0.1"] });
  const from = async (address: string, headers: Record<string, string> = {}) =>
    (await yard.call("GET /api/v1/conversations", { address, ...headers })).code || "in";
  assert.equal(await from("127.0.0.1"), "in");
  assert.equal(await from("::1", { host: "[::1]:7420" }), "in");
  assert.equal(await from("192.168.1.9"), "sign_in_required");
  assert.equal(await from(""), "sign_in_required", "a connection that is gone");
  assert.equal(await from("192.168.1.9", { host: "localhost" }), "sign_in_required");
  assert.equal(await from("127.0.0.1", { "x-forwarded-for": "192.168.1.9" }), "sign_in_required", "through a proxy");
});

test("without users a proxy on this machine that nobody named lets no outsiders in, and says what to do [C6][P4]", async () => {
  await using yard = await peopledYard();
  const through = (headers: Record<string, string>, path = "/api/v1/conversations") =>
    yard.call(`GET ${path}`, { address: "127.0.0.1", ...headers });
  const signs = {
    "x-forwarded-for": "203.0.113.9",
    "x-forwarded-proto": "https",
    "x-forwarded-host": "yard.example",
    "x-real-ip": "127.0.0.1",
    forwarded: "for=203.0.113.9",
    via: "1.1 proxy",
  };
  for (const [name, value] of Object.entries(signs)) {
    const { status, code } = await through({ [name]: value });
    assert.deepEqual([status, code], [403, "proxy_unnamed"], name);
  }
  const told = await through({ via: "1.1 proxy", "accept-language": "en" });
  assert.match(told.text, /Ask the operator of this server to add a user first \(agentyard user add NAME\)/);
  const zh = await through({ via: "1.1 proxy", "accept-language": "zh-CN" });
  assert.match(zh.text, /请联系运维人员先添加用户（agentyard user add NAME）/);
  assert.equal((await through({ via: "1.1 proxy", "sec-fetch-mode": "navigate" })).code, "proxy_unnamed");
  assert.equal((await through({ via: "1.1 proxy" }, "/healthz")).status, 200, "what is open to all stays open");
  assert.equal((await through({})).status, 200, "without a proxy nobody has to sign in");
  const key = await yard.keyOf("ann");
  assert.equal((await through({ via: "1.1 proxy", authorization: `Bearer ${key}` })).status, 200, "with users it may");
});

test("without users a proxy that is named is asked who calls, and who is not told apart is not let in [C6]", async () => {
  await using yard = await peopledYard({ trustedProxies: ["127.0.0.1"] });
  const from = async (headers: Record<string, string>) =>
    (await yard.call("GET /api/v1/conversations", { address: "127.0.0.1", ...headers })).code || "in";
  assert.equal(await from({}), "in", "who calls without it");
  assert.equal(
    await from({ "x-forwarded-for": "127.0.0.1" }),
    "sign_in_required",
    "what is said of an address is not enough where nobody signs in",
  );
  assert.equal(await from({ "x-forwarded-proto": "https" }), "proxy_unnamed", "it does not say who");
  for (const unread of ["unknown", "", "203.0.113.9:5123", "127.0.0.1, unknown"])
    assert.equal(await from({ "x-forwarded-for": unread }), "sign_in_required", unread);
});

test("without users nobody of a trusted network comes in by calling themselves this machine [C6]", async () => {
  await using yard = await peopledYard({ trustedProxies: ["10.0.0.0/8"], trustedHosts: ["yard.example"] });
  for (const forwarded of ["127.0.0.1", "::1", "10.0.0.8, 127.0.0.1", "127.0.0.1, 10.0.0.8"]) {
    const sent = { address: "10.0.0.7", "x-forwarded-for": forwarded };
    assert.equal((await yard.call("GET /api/v1/conversations", sent)).code, "sign_in_required", forwarded);
  }
});

test("a name that was pointed at this machine opens nothing, with users or without, but for a key [C6]", async () => {
  await using yard = await peopledYard({ host: "0.0.0.0", trustedHosts: ["yard.example"] });
  const key = await yard.keyOf("ann");
  const cookieless = async (host: string, more: Record<string, string> = {}) =>
    (await yard.call("GET /api/v1/health", { host, ...more })).status;
  for (const host of ["localhost:7420", "127.0.0.1", "[::1]:1", "yard.example", "192.168.1.4:7420", "[2001:db8::1]"])
    assert.equal(await cookieless(host), 200, host);
  for (const host of [
    "evil.example",
    "localhost.evil.example",
    "yard.example.evil",
    "a b",
    "yard.example@evil.example",
  ])
    assert.equal(await cookieless(host), 403, host);
  assert.equal(await cookieless("evil.example", { authorization: `Bearer ${key}` }), 200);
  assert.equal(await cookieless("evil.example", { authorization: "Bearer ay_wrong" }), 403);
  await using own = await peopledYard({ host: "192.168.1.4" });
  await own.keyOf("ann");
  const at = async (host: string) => (await own.call("GET /api/v1/health", { host })).status;
  assert.deepEqual([await at("192.168.1.4:7420"), await at("192.168.1.5:7420")], [200, 403]);
});

test("other sites read nothing unless the settings name them, and then exactly they do [C6]", async () => {
  const app = "https://app.example";
  const asked = { origin: app, "sec-fetch-site": "cross-site", "access-control-request-method": "POST" };
  await using closed = await peopledYard();
  const refused = await closed.call("OPTIONS /api/v1/conversations", asked);
  assert.deepEqual([refused.status, refused.headers.get("access-control-allow-origin")], [403, null]);
  await using yard = await peopledYard({ allowedOrigins: [app] });
  const preflight = await yard.call("OPTIONS /api/v1/conversations", {
    ...asked,
    "access-control-request-headers": "authorization, content-type",
  });
  const told = (name: string) => preflight.headers.get(`access-control-${name}`);
  assert.deepEqual(
    [preflight.status, told("allow-origin"), told("allow-credentials"), told("allow-headers"), preflight.text],
    [204, app, "true", "authorization, content-type", ""],
  );
  assert.deepEqual([told("allow-methods"), told("max-age")], ["GET, HEAD, POST, PUT, PATCH, DELETE", "600"]);
  const readable = [
    ...["x-request-id", "retry-after", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"],
    ...["idempotency-replayed", "location", "mcp-session-id", "content-disposition", "content-range", "etag"],
    ...["upload-offset", "upload-length", "tus-resumable"],
  ];
  assert.equal(told("expose-headers"), readable.join(", "));
  const read = await yard.call("GET /api/v1/conversations", { origin: app, "sec-fetch-site": "cross-site" });
  assert.deepEqual(
    [read.status, read.headers.get("access-control-allow-origin"), read.headers.get("vary")],
    [200, app, "Origin"],
  );
  for (const origin of ["https://app.example.evil", "http://app.example", "null", "https://APP.example"]) {
    const other = await yard.call("OPTIONS /api/v1/conversations", { ...asked, origin });
    assert.deepEqual([other.status, other.headers.get("access-control-allow-origin")], [403, null], origin);
  }
  assert.equal((await yard.call("GET /api/v1/conversations")).headers.get("vary"), "Origin", "caches keep them apart");
});
