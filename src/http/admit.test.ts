import assert from "node:assert/strict";
import { test } from "node:test";
import { Hono } from "hono";
import { manualClock } from "../../test/world/manual-clock.ts";
import { OwnerId } from "../protocol/ids.ts";
import { Problem } from "../protocol/resources.ts";
import type { Users } from "../users/users.ts";
import { openAdmission } from "./admit.ts";
import type { Door, Env } from "./door.ts";
import { openRate } from "./rate.ts";
import { defaultServerSettings, type ServerSettings } from "./settings.ts";

const ann = OwnerId.parse("ann");

/** A door with nothing behind it: who comes in is told from where they came and who they are. */
function openDoor(users: Partial<Users> = { exist: async () => false }) {
  const place: { settings: ServerSettings } = { settings: defaultServerSettings };
  const rate = openRate(manualClock());
  const admit = openAdmission({ users: Object(users), server: () => place.settings, rate });
  const app = new Hono<Env>();
  app.all("*", async (c) => {
    c.set("requestId", "r");
    c.set("language", "en");
    c.set("dialect", "own");
    return (await admit(c)) ?? c.json([c.get("arrival").address, c.get("caller").signedIn ?? null]);
  });
  const ask = async (headers: Record<string, string>, door: Door = {}, method = "GET", path = "/api/v1/me") => {
    const request = new Request(`http://127.0.0.1:7420${path}`, { method, headers });
    return app.fetch(request, { door: "tcp", address: "127.0.0.1", ...door });
  };
  return { place, ask };
}

async function codeOf(answer: Response | Promise<Response>): Promise<string> {
  return Problem.parse(await (await answer).json()).code;
}

test("a proxy is believed from the moment that the settings name it, and no longer than they do [C6]", async () => {
  const { place, ask } = openDoor();
  const sent = async () => codeOf(ask({ "x-forwarded-for": "192.0.2.7" }));
  const codes = [await sent()];
  for (const trustedProxies of [["127.0.0.1"], ["10.0.0.1"]]) {
    place.settings = { ...defaultServerSettings, trustedProxies };
    codes.push(await sent());
  }
  assert.deepEqual(codes, ["proxy_unnamed", "sign_in_required", "proxy_unnamed"]);
});

test("a request that another server handed on counts here for whom it counts there, and is refused beyond the limit [N1][C6]", async () => {
  const { ask } = openDoor();
  const arrival = {
    address: "192.0.2.7",
    isVeiled: false,
    isFromHere: false,
    host: "h",
    scheme: undefined,
    prefix: "",
  };
  const caller = { signedIn: ann, scopes: [] };
  const passed = (who: string) => ({ key: "u:ann", caller, arrival, counted: { who, max: 2 } }) as const;
  const answers = [];
  for (const who of ["ann", "ann", "ann", "bob"]) answers.push(await ask({}, { passed: passed(who) }));
  assert.deepEqual(
    answers.map(({ status, headers }) => [status, headers.get("ratelimit-remaining")]),
    [
      [200, "1"],
      [200, "0"],
      [429, "0"],
      [200, "1"],
    ],
  );
  assert.deepEqual(await answers[0]?.json(), ["192.0.2.7", "ann"]);
  const uncounted = await ask({}, { passed: { key: "u:ann", caller, arrival } });
  assert.deepEqual([uncounted.status, uncounted.headers.get("ratelimit-limit")], [200, null]);
});

test("a part of a request whose key was taken away meanwhile is refused [C6]", async () => {
  const { ask } = openDoor();
  const key = new AbortController();
  const arrival = { address: undefined, isVeiled: false, isFromHere: true, host: "h", scheme: undefined, prefix: "" };
  const admitted = { caller: { signedIn: ann, scopes: [], taken: key.signal }, arrival };
  assert.equal((await ask({}, { admitted })).status, 200);
  key.abort();
  assert.equal(await codeOf(ask({}, { admitted })), "sign_in_required");
});

test("a browser that is signed in looks at things without naming its page, and changes nothing so [C6]", async () => {
  const known = { id: ann, scopes: [], hash: "h", renewed: false, taken: new AbortController().signal };
  const { ask } = openDoor({ exist: async () => true, byCookie: async (token) => (token === "t" ? known : undefined) });
  const statuses = [];
  for (const method of ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"])
    statuses.push((await ask({ cookie: "agentyard=t" }, {}, method)).status);
  assert.deepEqual(statuses, [200, 200, 200, 403, 403, 403, 403]);
});

test("a name that is not ours is told without its port, and no more than a hundred characters of it [C6][P4]", async () => {
  const { ask } = openDoor();
  const told = async (host: string) => Problem.parse(await (await ask({ host })).json()).params;
  assert.deepEqual(await told("yard.lan:7420"), { host: "yard.lan" });
  assert.deepEqual(await told(`${"a".repeat(60)}.${"b".repeat(60)}:1`), {
    host: `${"a".repeat(60)}.${"b".repeat(39)}`,
  });
});

const taken = new AbortController().signal;
const withUsers = (renewed = false): Partial<Users> => ({
  exist: async () => true,
  byKey: async (key) => (key === "k" ? { id: ann, scopes: ["chat"], taken } : undefined),
  byCookie: async (token) => (token === "t" ? { id: ann, scopes: ["chat"], hash: "h", renewed, taken } : undefined),
});

test("a key is taken in either of its headers, and one that is wrong is not made good by a cookie [C6]", async () => {
  const { ask } = openDoor(withUsers());
  const letIn = async (headers: Record<string, string>) => (await ask(headers)).status;
  for (const authorization of ["Bearer k", "bearer   k ", "BEARER k"])
    assert.equal(await letIn({ authorization }), 200, authorization);
  assert.equal(await letIn({ "x-api-key": "k" }), 200);
  assert.equal(await letIn({ authorization: "Basic k", cookie: "agentyard=t" }), 200, "that is no key of ours");
  const wrong = [{ authorization: "Bearer x" }, { "x-api-key": "x" }, { authorization: "Bearer x", "x-api-key": "k" }];
  for (const headers of wrong) assert.equal(await letIn({ ...headers, cookie: "agentyard=t" }), 401);
  assert.equal(await letIn({ cookie: "agentyard=x; agentyard=t" }), 200, "a neighbour's cookie shuts nobody out");
  assert.equal(await letIn({ cookie: "agentyard=x" }), 401);
});

test("a browser whose sign-in goes on longer is told so with the same cookie, and no other one is [C6]", async () => {
  const cookies = async (renewed: boolean, headers: Record<string, string>) =>
    (await openDoor(withUsers(renewed)).ask(headers)).headers.getSetCookie();
  const seconds = defaultServerSettings.signInLastsMs / 1_000;
  assert.deepEqual(await cookies(true, { cookie: "agentyard=t" }), [
    `agentyard=t; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax`,
  ]);
  assert.deepEqual(await cookies(false, { cookie: "agentyard=t" }), []);
  assert.deepEqual(await cookies(true, { authorization: "Bearer k" }), []);
});

test("whoever is not known is told how to sign in: a person is led there and back, a program hears what was wrong [C6][P4]", async () => {
  const { ask, place } = openDoor(withUsers());
  place.settings = { ...defaultServerSettings, trustedProxies: ["127.0.0.1"] };
  const proxied = { "x-forwarded-for": "192.0.2.7", "x-forwarded-prefix": "/yard" };
  const told = async (headers: Record<string, string>, path?: string) => {
    const answer = await ask({ ...proxied, ...headers }, {}, "GET", path);
    const { params } = answer.status === 303 ? {} : Object(await answer.json());
    return [answer.status, answer.headers.get("location") ?? answer.headers.get("www-authenticate"), params];
  };
  const next = encodeURIComponent("/yard/c/1?a=b");
  assert.deepEqual(await told({ accept: "text/html" }, "/c/1?a=b"), [303, `/yard/sign-in?next=${next}`, undefined]);
  const page = "/yard/sign-in";
  assert.deepEqual(await told({}), [401, 'Bearer realm="AgentYard"', { page }]);
  assert.deepEqual(await told({ "x-api-key": "x" }), [
    ...[401, 'Bearer realm="AgentYard", error="invalid_token"'],
    { key: "unknown", page },
  ]);
  assert.equal((await told({}, "/sign-in"))[0], 200, "where they sign in they come in");
});

test("a body may take its time once it is known who sends it, and not before [C6][Q1]", async () => {
  const given = async (headers: Record<string, string>, users?: Partial<Users>, address = "127.0.0.1") => {
    let times = 0;
    const giveTime = () => {
      times += 1;
    };
    await openDoor(users).ask(headers, { address, giveTime });
    return times;
  };
  assert.equal(await given({ authorization: "Bearer k" }, withUsers()), 1);
  assert.equal(await given({ authorization: "Bearer x" }, withUsers()), 0);
  assert.deepEqual([await given({}), await given({}, undefined, "192.0.2.7")], [1, 0]);
});

test("where nobody signs in yet, a page of another site gets nowhere but back from a sign-in; where people do, links lead here [C6]", async () => {
  const foreign = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
  const status = async (path: string, users?: Partial<Users>) =>
    (await openDoor(users).ask({ ...foreign, ...(users && { cookie: "agentyard=t" }) }, {}, "GET", path)).status;
  const statuses = {
    ...{ "/sign-in": 200, "/sign-in/oidc/callback": 200, "/api/v1/mcp/callback": 200 },
    ...{ "/sign-in-not": 403, "/api/v1/mcp/callbacks": 403, "/": 403 },
  };
  for (const [path, expected] of Object.entries(statuses)) assert.equal(await status(path), expected, path);
  assert.equal(await status("/", withUsers()), 200);
  const { ask } = openDoor(withUsers());
  const framed = await ask({ ...foreign, "sec-fetch-mode": "cors", cookie: "agentyard=t" });
  assert.equal(await codeOf(framed), "page_forged");
});
