import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Hono } from "hono";
import { openDatabase } from "../../test/world/database.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { openBrowser, signInServer } from "../../test/world/sign-in-service.ts";
import { systemClock } from "../base/clock.ts";
import { systemIds } from "../base/ids.ts";
import { openSignInService, openUsers, type SignInService } from "../users/users.ts";
import type { Arrival } from "./arrival.ts";
import type { App, Env, HandOn } from "./door.ts";
import { openRate } from "./rate.ts";
import { defaultServerSettings } from "./settings.ts";
import { bindSignInPages } from "./sign-in-pages.ts";
import { openTries } from "./tries.ts";

const passwordCost = { N: 2, r: 1, p: 1 } as const;
const password = "a good password";
const right = { user: "ann", password };

type Given = {
  readonly arrival?: Partial<Arrival>;
  /** Tries of one place in a minute. */
  readonly triesMax?: number;
  readonly service?: SignInService;
  readonly handOn?: HandOn;
};

/** The pages of a server with one user, Ann. */
async function pages(t: TestContext, { arrival = {}, triesMax = 10, service, handOn }: Given = {}) {
  const clock = manualClock();
  const server = () => ({ ...defaultServerSettings, signInLastsMs: 60_000, signInsPerMinuteMax: triesMax });
  const signInLastsMs = () => server().signInLastsMs;
  const users = openUsers({ storage: openDatabase(t, clock), clock, ids: systemIds, passwordCost, signInLastsMs });
  assert.ok((await users.add({ id: "ann", password, signInAs: "ann@example.org" })).ok);
  const app: App = new Hono<Env>();
  app.use(async (c, next) => {
    c.set("requestId", "r");
    c.set("language", "en");
    c.set("dialect", "own");
    c.set("arrival", {
      ...{ address: c.req.header("from") ?? "192.0.2.1", isVeiled: false, isFromHere: false, host: "yard.example" },
      ...{ scheme: "http", prefix: "", ...arrival },
    });
    await next();
  });
  const tries = openTries(openRate(clock), server);
  bindSignInPages(app, { users, server, signInService: service }, { tries, handOn });
  const post = (fields: Record<string, string>, from = "192.0.2.1") =>
    app.request("/sign-in", { method: "POST", headers: { from }, body: new URLSearchParams(fields).toString() });
  const get = (path: string, headers: Record<string, string> = {}) => app.request(path, { headers });
  return { users, post, get };
}

/** Who signed in has a token in this cookie; it is another one each time. */
const told = ({ status, headers }: Response) => [
  ...[status, headers.get("location")],
  headers.getSetCookie().map((cookie) => cookie.replace(/(agentyard)=[\w-]{43};/, "$1=tok;")),
];
const cookie = "agentyard=tok; Path=/; Max-Age=60; HttpOnly; SameSite=Lax";

test("a try to sign in by password counts before it is looked at, for its place and its name, and not when it works [C6]", async (t) => {
  const { post } = await pages(t, { triesMax: 1 });
  const wrong = { user: "ann", password: "wrong" };
  for (let count = 0; count < 3; count += 1)
    assert.deepEqual(told(await post({ ...right, next: "/c/1" })), [303, "/c/1", [cookie]]);
  assert.deepEqual(told(await post(wrong)), [401, null, []]);
  const refused = async (...given: Parameters<typeof post>) => {
    const answer = await post(...given);
    return [...told(answer), answer.headers.get("retry-after")];
  };
  assert.deepEqual(await refused(right), [429, null, [], "60"], "also with the right one");
  for (let place = 2; place <= 20; place += 1) assert.equal((await post(wrong, `192.0.2.${place}`)).status, 401);
  assert.deepEqual(await refused(right, "192.0.2.21"), [429, null, [], "60"], "so often for one name, from wherever");
  assert.equal((await post({ user: "bob", password: "x" }, "192.0.2.22")).status, 401);
});

test("a link signs in who it was made for without a name, is only looked at when it is opened, and a used one says so [C6]", async (t) => {
  const { users, post, get } = await pages(t, { triesMax: 1 });
  const made = await users.makeLink("ann");
  assert.ok(made.ok);
  const { token: link } = made.value;
  for (let times = 0; times < 2; times += 1) {
    const opened = await get(`/sign-in?link=${link}`);
    assert.deepEqual([opened.status, (await opened.text()).includes(`name="link" value="${link}"`)], [200, true]);
  }
  assert.equal((await get("/sign-in?link=x")).status, 401);
  assert.deepEqual(told(await post({ link })), [303, "/", [cookie]]);
  assert.equal((await get(`/sign-in?link=${link}`)).status, 401);
  assert.deepEqual(told(await post({ link })), [401, null, []], "the one before worked, and did not count");
  assert.equal((await post({ link })).status, 429);
  for (let place = 2; place <= 22; place += 1)
    assert.equal((await post({ link }, `192.0.2.${place}`)).status, 401, "it is about no name");
});

test("after signing in people come to a page of ours and nowhere else, whatever the address says [C6][Q1]", async (t) => {
  const { post } = await pages(t, { arrival: { prefix: "/yard" } });
  const led = async (next: string) => (await post({ ...right, next })).headers.get("location");
  for (const own of ["/yard/c/1?a=b", "/", "/x#y"]) assert.equal(await led(own), own);
  const others = ["//evil.example", "/\\evil.example", "https://evil.example", "c/1", "", "/a\\b", "/a b", "/\t/evil"];
  for (const other of others) assert.equal(await led(other), "/yard/", other);
});

test("everything that signs somebody in goes to the one server that looks after users, with its body [N1][C6]", async (t) => {
  const keys: unknown[] = [];
  const handOn: HandOn = async (_, key, body) => {
    keys.push([key, "stream" in body]);
    return new Response("there");
  };
  const nobodyAsked = openSignInService(settingsOf("http://127.0.0.1:9"), { clock: systemClock, ids: systemIds });
  const { post, get } = await pages(t, { handOn, service: nobodyAsked });
  for (const answer of [await post(right), await get("/sign-in/oidc"), await get("/sign-in/oidc/callback")])
    assert.deepEqual([await answer.text(), answer.headers.getSetCookie()], ["there", []]);
  assert.deepEqual(keys, [
    ["u:*", true],
    ["u:*", false],
    ["u:*", false],
  ]);
  assert.equal((await get("/sign-in")).status, 200, "the page itself is the same everywhere");
});

const settingsOf = (issuer: string, clientSecret?: string) => ({
  ...{ issuer, clientId: "agentyard", clientSecret, name: "S", scopes: ["email"], addsUsers: false },
});

test("who signs in through a service comes back to where the browser knows us, with what it keeps on its way, and only by that [C6]", async (t) => {
  const server = await signInServer({ "1": { email: "ann@example.org", email_verified: true } });
  t.after(() => server.close());
  server.person = "1";
  const through = async (prefix: string) => {
    server.serve(`https://yard.example${prefix}/sign-in/oidc/callback`);
    const service = openSignInService(settingsOf(server.issuer, server.secret), { clock: systemClock, ids: systemIds });
    const { get } = await pages(t, { service, arrival: { scheme: "https", prefix } });
    const begun = await get(`/sign-in/oidc?next=${prefix}/c/1`);
    assert.equal(begun.status, 303);
    const [kept = ""] = begun.headers.getSetCookie();
    const there = await openBrowser().go(begun.headers.get("location") ?? "", { stop: "https://yard.example" });
    return { get, kept, came: new URL(there.url) };
  };
  const sealed = /=[^;]+;/;
  const way = (name: string, path: string, seconds: number, value = "") =>
    `${name}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax; Secure`;
  const below = await through("/yard");
  assert.equal(below.kept.replace(sealed, "=;"), way("__Secure-agentyard-way", "/yard/sign-in", 600));
  assert.equal(below.came.pathname, "/yard/sign-in/oidc/callback");

  const whole = await through("");
  const [pair = ""] = whole.kept.split(";");
  const [name = ""] = pair.split("=");
  assert.equal(name, "__Host-agentyard-way");
  const callback = `/sign-in/oidc/callback${whole.came.search}`;
  const strange = await whole.get(callback);
  assert.deepEqual([strange.status, strange.headers.getSetCookie()], [401, [way(name, "/", 0)]]);
  const back = await whole.get(callback, { cookie: `${name}=x; ${pair}; ${name}=never` });
  assert.deepEqual(told(back), [303, "/c/1", [way(name, "/", 0), `__Host-${cookie}; Secure`]]);
  assert.equal((await (await pages(t)).get("/sign-in/oidc")).status, 405, "where there is no service");
});
