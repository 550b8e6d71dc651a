import assert from "node:assert/strict";
import { test } from "node:test";
import { Hono } from "hono";
import { systemClock } from "../base/clock.ts";
import { localOwner, OwnerId } from "../protocol/ids.ts";
import { isOwnSession } from "../protocol/session-names.ts";
import { networkOf, openArrivals } from "./arrival.ts";
import { callerNamed, languageWanted, type Named } from "./caller.ts";
import { ownCookie, waysIn } from "./cookie.ts";
import { shareWith } from "./cors.ts";
import type { Env } from "./door.ts";
import { isNavigation, wantsPage } from "./origin.ts";
import { openRate } from "./rate.ts";

/** What is known of a request that came over a connection from there. */
function arrived(headers: Record<string, string>, address = "10.0.0.1", basePath?: string) {
  const read = openArrivals(["10.0.0.0/8", "fe80::7"]);
  return read(new Request("http://inner:7420/x", { headers }), { door: "tcp", address, basePath });
}

test("of what several proxies say the last word counts, in whatever letters; what is no word of theirs counts as none [C6]", () => {
  const { address, host, scheme, prefix } = arrived({
    ...{ "x-forwarded-for": "192.0.2.1", "x-forwarded-proto": "http, HTTPS", "x-forwarded-prefix": "/evil, /yard/" },
    ...{ "x-forwarded-host": "evil.example, yard.example:8443", host: "inner:7420" },
  });
  assert.deepEqual([address, host, scheme, prefix], ["192.0.2.1", "yard.example:8443", "https", "/yard"]);
  const odd = arrived(
    { "x-forwarded-proto": "ftp", "x-forwarded-host": "", "x-forwarded-prefix": "" },
    "10.0.0.1",
    "/b",
  );
  assert.deepEqual([odd.host, odd.scheme, odd.prefix], ["inner:7420", undefined, "/b"]);
  for (const path of ['/a"><script>', "/a b", "/a;x=1", "a", "//evil", "/a//b", "/a?b"])
    assert.equal(arrived({ "x-forwarded-prefix": path }).prefix, "", path);
  const longest = `/${"a".repeat(199)}`;
  const prefixes = [longest, `${longest}a`].map((path) => arrived({ "x-forwarded-prefix": path }).prefix);
  assert.deepEqual(prefixes, [longest, ""], "a path that a proxy names is short");
  const untold = arrived({ "x-forwarded-proto": "https", "x-forwarded-prefix": "/yard" }, "192.0.2.9", "/b");
  assert.deepEqual([untold.scheme, untold.prefix, untold.host], [undefined, "/b", "inner:7420"], "from anybody else");
});

test("whatever a proxy adds shows that there is one: nobody behind it passes for this machine [C6]", () => {
  const added = [
    ...["x-forwarded-for", "x-forwarded", "x-forwarded-port", "forwarded", "via", "x-real-ip"],
    ...["x-original-forwarded-for", "x-original-host", "true-client-ip", "cf-connecting-ip"],
  ];
  const seen = added.filter((name) => {
    const { isFromHere, isVeiled } = arrived({ [name]: "127.0.0.1" }, "127.0.0.1");
    return !isFromHere && isVeiled;
  });
  assert.deepEqual(seen, added);
  const { isFromHere, isVeiled } = arrived({ "x-request-id": "r", "x-viaduct": "y" }, "127.0.0.1");
  assert.deepEqual([isFromHere, isVeiled], [true, false]);
});

test("a caller is the same one with a zone or in the other spelling, and all addresses of a home are one place [C6]", () => {
  assert.equal(arrived({ "x-forwarded-for": "192.0.2.7" }, "fe80::7%eth0").address, "192.0.2.7", "a proxy with a zone");
  assert.equal(arrived({ "x-forwarded-for": "::FFFF:192.0.2.7" }).address, "192.0.2.7");
  assert.equal(arrived({ "x-forwarded-for": "fe80::9%eth0, 10.1.1.1" }).address, "fe80::9");
  const places = {
    "2001:db8::1": "2001:db8:0:0",
    "2001:db8::ffff:1": "2001:db8:0:0",
    "2001:db8:1:2:3:4:5:6": "2001:db8:1:2",
    "2001::1:2:3:4:5:6": "2001:0:1:2",
    "::1": "0:0:0:0",
    "192.0.2.7": "192.0.2.7",
  };
  assert.deepEqual(Object.fromEntries(Object.keys(places).map((address) => [address, networkOf(address)])), places);
});

test("behind proxies alone the farthest of them is the caller, and of a connection that is gone nobody knows whether it was of here [C6]", () => {
  assert.equal(arrived({ "x-forwarded-for": "10.0.0.9, 10.0.0.8" }).address, "10.0.0.9");
  assert.equal(arrived({ "x-forwarded-for": "[2001:db8::1]:443, 10.1.1.1:80" }).address, "2001:db8::1");
  assert.equal(arrived({ "x-forwarded-for": "192.0.2.7" }).isVeiled, false, "who calls is told");
  const read = openArrivals([]);
  const isFromHere = (door: Parameters<typeof read>[1]) => read(new Request("http://inner/"), door).isFromHere;
  assert.deepEqual([isFromHere({}), isFromHere({ door: "tcp" })], [true, false]);
  assert.deepEqual(
    [isFromHere({ door: "tcp", address: "::1" }), isFromHere({ door: "tcp", address: "::2" })],
    [true, false],
  );
});

const [ann, bob] = [OwnerId.parse("ann"), OwnerId.parse("bob@example.com")];

type Naming = Omit<Named, "caller"> & Partial<Pick<Named, "caller">>;
const isAnn = { caller: { signedIn: ann } };

const callers: [what: string, named: Naming, caller: string][] = [
  ["nobody", {}, "local"],
  ["the body before everything", { userId: "ann", actsAs: bob, owners: [bob] }, "ann"],
  ["the header before the conversation", { actsAs: bob, owners: [ann] }, "bob@example.com"],
  ["the id inside a session's id", { sessionId: "sb-session-ann", owners: [bob] }, "ann"],
  ["the id inside the other spelling", { sessionId: "sess-bob@example.com" }, "bob@example.com"],
  ["an id with dashes in it", { sessionId: "sb-session-a-b-c" }, "a-b-c"],
  ["the session of anybody, which names nobody", { sessionId: "sess-agent-default" }, "local"],
  ["the session of anybody, of a caller with a name", { sessionId: "sess-agent-default", actsAs: ann }, "ann"],
  ["a session with a name of its own", { sessionId: "mine", actsAs: ann }, "ann"],
  ["the public service's own ids", { sessionId: "sess_20250101_0a1b2c3d" }, "local"],
  ["a conversation that one user has", { sessionId: "sess-agent-default", owners: [ann] }, "ann"],
  ["a conversation that two users have", { owners: [ann, bob] }, "local"],
  ["a session of nobody who can be", { sessionId: "sess-not a user" }, "local"],
  ["the same user twice", { userId: "ann", sessionId: "sess-ann" }, "ann"],
  ["another user's session", { userId: "ann", sessionId: "sb-session-bob" }, "session_not_found"],
  ["another user's session", { actsAs: bob, sessionId: "sess-ann" }, "session_not_found"],
  ["a user id with a blank", { userId: "a b" }, "bad_request"],
  ["a user id of 49 characters", { userId: "x".repeat(49) }, "bad_request"],
  ["an empty user id", { userId: "", actsAs: ann }, "bad_request"],
  ["who is signed in, and nobody named", isAnn, "ann"],
  ["who is signed in, whoever has the conversation", { ...isAnn, owners: [bob] }, "ann"],
  ["who is signed in, by every name", { ...isAnn, userId: "ann", actsAs: ann, sessionId: "sess-ann" }, "ann"],
  ["who is signed in, in the session of anybody", { ...isAnn, sessionId: "sess-agent-default" }, "ann"],
  ["another user in the body of who is signed in", { ...isAnn, userId: "bob" }, "user_unknown"],
  ["another user than who is signed in", { ...isAnn, actsAs: bob }, "user_unknown"],
  ["another user's session of who is signed in", { ...isAnn, sessionId: "sess-bob" }, "session_not_found"],
];

test("who is calling is the first that a request names, and nobody reaches another user's session [S7]", () => {
  const told = callers.map(([what, named]) => {
    const caller = callerNamed({ caller: { signedIn: undefined }, ...named });
    return [what, named, caller.ok ? caller.value : caller.failure.code];
  });
  assert.deepEqual(told, callers);
});

test("a session has its own id and three other names, and only for its own user [S1][S7]", () => {
  const session = { id: "mine" };
  const ids = ["mine", "sb-session-ann", "sess-ann", "sess-agent-default", "sess-bob", "sb-session-local", "yours", ""];
  const own = (owner: OwnerId) => ids.filter((id) => isOwnSession(owner, id, owner === ann ? session : undefined));
  assert.deepEqual(own(ann), ["mine", "sb-session-ann", "sess-ann", "sess-agent-default"]);
  assert.deepEqual(own(localOwner), ["sess-agent-default", "sb-session-local"]);
});

test("of the languages that a caller takes the best liked one of ours is spoken, and none that they refuse [P4]", () => {
  const headers = {
    "": "en",
    fr: "en",
    "zh-CN": "zh",
    ZH: "zh",
    "zh;q=0.5, en;q=0.8": "en",
    "en;q=0.5, fr, zh;q=0.8": "zh",
    "zh;q=0, fr": "en",
    "en;q=0.9,zh": "zh",
  };
  assert.deepEqual(Object.fromEntries(Object.keys(headers).map((header) => [header, languageWanted(header)])), headers);
  assert.equal(languageWanted(undefined), "en");
});

test("of all cookies only those go further that a sign-in through a service needs, by each of their names [C6][N1]", () => {
  const names = (["http", "https"] as const).flatMap((scheme) =>
    ["", "/yard"].map((prefix) => ownCookie("agentyard-way", { scheme, prefix })),
  );
  assert.deepEqual(names, ["agentyard-way", "agentyard-way", "__Host-agentyard-way", "__Secure-agentyard-way"]);
  const ways = [...new Set(names)].map((name) => `${name}=sealed`);
  const others = ["agentyard=secret", "__Host-agentyard=secret", "xagentyard-way=1", "agentyard-ways=1"];
  assert.equal(waysIn([...others, ...ways].join(";  ")), ways.join("; "));
  assert.equal(waysIn(undefined), "");
});

const origin = "https://app.example";

async function told(headers: Record<string, string>, method = "OPTIONS", allowed: readonly string[] = [origin]) {
  const app = new Hono<Env>();
  app.all("*", (c) => shareWith(c, allowed) ?? c.text("served"));
  const answer = await app.request("/", { method, headers });
  const named = (name: string) => answer.headers.get(name);
  const [from, methods] = [named("access-control-allow-origin"), named("access-control-allow-methods")];
  return [await answer.text(), from, methods !== null, named("access-control-allow-headers"), named("vary")];
}

test("the headers that a page wants to send are allowed where they can be names of headers, and not without end [C6][Q1]", async () => {
  const wants = async (wanted: string) =>
    (await told({ origin, "access-control-request-method": "PUT", "access-control-request-headers": wanted }))[3];
  assert.equal(await wants("x-api-key, content-type"), "x-api-key, content-type");
  const longest = "x".repeat(2_000);
  assert.deepEqual([await wants(longest), await wants(`${longest}x`), await wants("a: b")], [longest, null, null]);
});

const asked = (headers: Record<string, string>, method = "GET") => new Request("http://here/", { method, headers });

test("whoever follows a link waits for a page, to look at it or to look whether it is there, and a script does not [C6]", () => {
  const told = (headers: Record<string, string>) =>
    ["GET", "HEAD", "POST"].map((method) => [isNavigation(asked(headers, method)), wantsPage(asked(headers, method))]);
  const [yes, no] = [
    [true, true],
    [false, false],
  ];
  assert.deepEqual(told({ "sec-fetch-mode": "navigate" }), [yes, yes, no]);
  assert.deepEqual(told({ "sec-fetch-mode": "cors", accept: "text/html" }), [no, no, no]);
  const plain = [false, true];
  assert.deepEqual(told({ accept: "text/html,application/xhtml+xml" }), [plain, plain, no]);
  assert.deepEqual(told({ accept: "application/json" }), [no, no, no]);
});

test("who called too often is taken again when the minute is over, and not before [C6]", () => {
  let now = 0;
  const rate = openRate({ ...systemClock, monotonic: () => now });
  const call = (who: string) => {
    const { headers, refusal } = rate.count(who, 2);
    return [headers["ratelimit-remaining"], headers["ratelimit-reset"], refusal?.params.retryAfterSeconds];
  };
  const told = (...who: string[]) => who.map((one) => call(one).join(" "));
  assert.deepEqual(told("ann", "ann"), ["1 60 ", "0 60 "]);
  now = 30_500;
  assert.deepEqual(told("ann", "bob"), ["0 30 30", "1 60 "]);
  now = 59_999;
  assert.deepEqual(told("ann"), ["0 1 1"]);
  now = 60_000;
  assert.deepEqual(told("ann", "bob"), ["1 60 ", "0 31 "]);
});

test("a call that is given back does not count, and a name of any length is one caller [C6]", () => {
  const rate = openRate({ ...systemClock, monotonic: () => 0 });
  const long = "a".repeat(100_000);
  for (let n = 0; n < 5; n += 1) {
    const call = {};
    assert.equal(rate.count(long, 1, call).refusal, undefined);
    rate.giveBack(call);
  }
  rate.count(long, 1);
  assert.equal(rate.count(long, 1).refusal?.code, "rate_limited");
  assert.equal(rate.count(`${long}a`, 1).refusal, undefined);
});

test("what is given back once its minute is over makes no room in the next one [C6]", () => {
  let now = 0;
  const rate = openRate({ ...systemClock, monotonic: () => now });
  const left = (call?: object) => rate.count("ann", 3, call).headers["ratelimit-remaining"];
  const [slow, both] = [{}, {}];
  assert.deepEqual([left(slow), left(both)], ["2", "1"]);
  now = 60_000;
  assert.deepEqual([left(both), left()], ["2", "1"]);
  rate.giveBack(slow);
  assert.equal(left(), "0");
  rate.giveBack(both);
  rate.giveBack(both);
  assert.equal(left(), "0", "of what was counted in either minute, what is of this one, and once");
});
