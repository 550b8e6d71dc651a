import assert from "node:assert/strict";
import { test } from "node:test";
import { Hono } from "hono";
import { noted, partly, type Some } from "../../test/world/partly.ts";
import { failed, ok } from "../base/result.ts";
import { makeFailure } from "../protocol/failure.ts";
import { OwnerId } from "../protocol/ids.ts";
import type { Users } from "../users/users.ts";
import type { Arrival } from "./arrival.ts";
import type { App, Env, HandOn } from "./door.ts";
import type { Parts } from "./handler.ts";
import { defaultServerSettings } from "./settings.ts";
import { bindSignInPages } from "./sign-in-pages.ts";
import type { Tries } from "./tries.ts";

const ann = OwnerId.parse("ann");
const signedIn = ok({ user: { id: ann }, token: "tok" });
const wrong = makeFailure("sign_in_failed", {});
const expired = makeFailure("sign_in_expired", {});
const limited = makeFailure("rate_limited", { retryAfterSeconds: 7 });

type Given = {
  readonly arrival?: Partial<Arrival>;
  readonly tooMany?: "from" | "as";
  readonly service?: Some<NonNullable<Parts["signInService"]>>;
  readonly handOn?: HandOn;
};

/** The pages, with users whom the test plays; and what was asked of them. */
function pages({ arrival = {}, tooMany, service, handOn }: Given = {}) {
  const done: unknown[] = [];
  const app: App = new Hono<Env>();
  app.use(async (c, next) => {
    c.set("requestId", "r");
    c.set("language", "en");
    c.set("dialect", "own");
    c.set("arrival", {
      ...{ address: "192.0.2.1", isVeiled: false, isFromHere: false, host: "yard.example", scheme: "http", prefix: "" },
      ...arrival,
    });
    await next();
  });
  const users = partly<Users>({
    exist: async () => true,
    ofLink: async (token) => (token === "l" ? { id: ann, name: "" } : undefined),
    signIn: async (user, password) => noted(done, ["signIn", user], password === "right" ? signedIn : failed(wrong)),
    signInByLink: async (link) => noted(done, ["byLink", link], signedIn),
    signInFromService: async () => noted(done, "fromService", signedIn),
  });
  const tries = partly<Tries>({
    from: ({ address }) => noted(done, ["from", address], tooMany === "from" ? limited : undefined),
    as: (name) => noted(done, ["as", name], tooMany === "as" ? limited : undefined),
    worked: ({ address }) => void done.push(["worked", address]),
  });
  const server = () => ({ ...defaultServerSettings, signInLastsMs: 60_000 });
  bindSignInPages(app, partly<Parts>({ users, server, ...(service && { signInService: service }) }), { tries, handOn });
  const post = (fields: Record<string, string>) =>
    app.request("/sign-in", { method: "POST", body: new URLSearchParams(fields).toString() });
  const get = (path: string, headers: Record<string, string> = {}) => app.request(path, { headers });
  return { done, post, get };
}

const told = ({ status, headers }: Response) => [status, headers.get("location"), headers.getSetCookie()];
const cookie = "agentyard=tok; Path=/; Max-Age=60; HttpOnly; SameSite=Lax";

test("a try to sign in by password counts before it is looked at, for its place and its name, and not when it works [C6]", async () => {
  const { done, post } = pages();
  assert.deepEqual(told(await post({ user: "ann", password: "right", next: "/c/1" })), [303, "/c/1", [cookie]]);
  const counted = [
    ["from", "192.0.2.1"],
    ["as", "ann"],
    ["signIn", "ann"],
  ];
  assert.deepEqual(done.splice(0), [...counted, ["worked", "192.0.2.1"]]);
  assert.deepEqual(told(await post({ user: "ann", password: "wrong" })), [401, null, []]);
  assert.deepEqual(done.splice(0), counted);
  for (const tooMany of ["from", "as"] as const) {
    const full = pages({ tooMany });
    const { status, headers } = await full.post({ user: "ann", password: "right" });
    const looked = counted.slice(0, tooMany === "from" ? 1 : 2);
    assert.deepEqual([status, headers.get("retry-after"), full.done], [429, "7", looked]);
  }
});

test("a link signs in who it was made for without a name, is only looked at when it is opened, and a used one says so [C6]", async () => {
  const { done, post, get } = pages();
  const opened = await get("/sign-in?link=l");
  assert.deepEqual([opened.status, /name="link" value="l"/.test(await opened.text()), done], [200, true, []]);
  assert.equal((await get("/sign-in?link=x")).status, 401);
  assert.deepEqual(told(await post({ link: "l" })), [303, "/", [cookie]]);
  assert.deepEqual(done, [
    ["from", "192.0.2.1"],
    ["byLink", "l"],
    ["worked", "192.0.2.1"],
  ]);
});

test("after signing in people come to a page of ours and nowhere else, whatever the address says [C6][Q1]", async () => {
  const { post } = pages({ arrival: { prefix: "/yard" } });
  const led = async (next: string) => (await post({ user: "ann", password: "right", next })).headers.get("location");
  for (const own of ["/yard/c/1?a=b", "/", "/x#y"]) assert.equal(await led(own), own);
  const others = ["//evil.example", "/\\evil.example", "https://evil.example", "c/1", "", "/a\\b", "/a b", "/\t/evil"];
  for (const other of others) assert.equal(await led(other), "/yard/", other);
});

test("everything that signs somebody in goes to the one server that looks after users, with its body [N1][C6]", async () => {
  const keys: unknown[] = [];
  const handOn: HandOn = async (_, key, body) => {
    keys.push([key, "stream" in body]);
    return new Response("there");
  };
  const { post, get, done } = pages({ handOn, service: { name: "S" } });
  for (const answer of [await post({ user: "ann" }), await get("/sign-in/oidc"), await get("/sign-in/oidc/callback")])
    assert.equal(await answer.text(), "there");
  assert.deepEqual(keys, [
    ["u:*", true],
    ["u:*", false],
    ["u:*", false],
  ]);
  assert.equal((await get("/sign-in")).status, 200, "the page itself is the same everywhere");
  assert.deepEqual(done, []);
});

test("who signs in through a service comes back to where the browser knows us, with what it keeps on its way, and only by that [C6]", async () => {
  const asked: unknown[] = [];
  const service: Given["service"] = {
    name: "S",
    begin: async (of) => noted(asked, of, ok({ kept: "sealed", url: "https://id.example/authorize" })),
    finish: async (url, way) => noted(asked, [url.search, way], way === "w" ? ok({ next: "/c/1" }) : failed(expired)),
  };
  const below = pages({ service, arrival: { scheme: "https", prefix: "/yard" } });
  const way = (name: string, path: string, value: string, seconds: number) =>
    `${name}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax; Secure`;
  const begun = await below.get("/sign-in/oidc?next=/yard/c/1");
  const kept = begun.headers.getSetCookie()[0]?.replace(/Max-Age=\d+/, "Max-Age=9");
  assert.deepEqual([begun.status, begun.headers.get("location")], [303, "https://id.example/authorize"]);
  assert.equal(kept, way("__Secure-agentyard-way", "/yard/sign-in", "sealed", 9));
  const callback = "https://yard.example/yard/sign-in/oidc/callback";
  assert.deepEqual(asked.splice(0), [{ callback, next: "/yard/c/1" }]);
  const whole = pages({ service, arrival: { scheme: "https" } });
  const back = await whole.get("/sign-in/oidc/callback?code=1", {
    cookie: "__Host-agentyard-way=x; __Host-agentyard-way=w; __Host-agentyard-way=never",
  });
  assert.deepEqual(told(back), [
    ...[303, "/c/1"],
    [way("__Host-agentyard-way", "/", "", 0), `__Host-${cookie}; Secure`],
  ]);
  assert.deepEqual(
    [asked, whole.done],
    [
      [
        ["?code=1", "x"],
        ["?code=1", "w"],
      ],
      ["fromService"],
    ],
  );
  const strange = await whole.get("/sign-in/oidc/callback?code=1");
  assert.deepEqual([strange.status, whole.done.length], [401, 1]);
  assert.equal((await pages().get("/sign-in/oidc")).status, 405, "where there is no service");
});
