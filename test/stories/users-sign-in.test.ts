import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { OwnerId } from "../../src/protocol/ids.ts";
import { type Called, type PeopledYard, peopledYard } from "../world/callers.ts";
import { manualClock } from "../world/manual-clock.ts";
import { playedProvider, sandboxOver } from "../world/played-provider.ts";
import { must } from "../world/yard.ts";

const password = "a good password";
const here = { origin: "http://127.0.0.1:7420", "sec-fetch-site": "same-origin" };

test("a browser signs in by name and password, gets a cookie that scripts do not see, and signs out [C6]", async () => {
  await using yard = await peopledYard();
  await yard.addUser({ id: "ann", name: "Ann", password });
  const signed = await yard.call("POST /api/v1/sign-in", { ...here, body: { user: "ann", password } });
  assert.equal(signed.status, 200);
  const header = signed.headers.get("set-cookie") ?? "";
  assert.match(header, /^agentyard=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/);
  const cookie = cookieOf(signed);
  const me = await yard.call("GET /api/v1/me", { cookie: `other=1; ${cookie}` });
  const { user, ...rest } = JSON.parse(me.text);
  assert.deepEqual([user, rest], [JSON.parse(signed.text), { scopes: ["chat", "files", "admin"], by: "cookie" }]);
  assert.equal((await yard.call("POST /api/v1/conversations", { ...here, cookie, body: {} })).status, 201);
  const out = await yard.call("POST /api/v1/sign-out", { ...here, cookie });
  assert.deepEqual([out.status, cookieOf(out)], [204, "agentyard="]);
  assert.equal((await yard.call("GET /api/v1/me", { cookie })).status, 401);
});

test("a cookie that a neighbour put under the same name does not shut anybody out, and signing out ends all [C6]", async () => {
  await using yard = await peopledYard();
  const good = await signedIn(yard, "ann");
  const status = async (cookie: string) => (await yard.call("GET /api/v1/me", { cookie })).status;
  const wrong = "agentyard=AAAA";
  assert.deepEqual([await status(`${wrong}; ${good}`), await status(`${good}; ${wrong}`)], [200, 200]);
  const wrongs = (count: number) => Array<string>(count).fill(wrong).join("; ");
  assert.deepEqual([await status(`${wrongs(4)}; ${good}`), await status(`${wrongs(5)}; ${good}`)], [200, 401]);
  const out = await yard.call("POST /api/v1/sign-out", { ...here, cookie: `${wrong}; ${good}` });
  assert.deepEqual([out.status, await status(good)], [204, 401]);
});

test("behind a proxy with https the cookie travels over https only and no neighbour can set it [C6]", async () => {
  const proxied = (more: Record<string, string>) => ({ address: "10.0.0.1", host: "yard.example", ...more });
  const https = { "x-forwarded-proto": "https", origin: "https://yard.example" };
  const signIn = async (server: Parameters<typeof peopledYard>[0], headers: Record<string, string>) => {
    await using yard = await peopledYard({ trustedHosts: ["yard.example"], ...server });
    await yard.addUser({ id: "ann" });
    const body = new URLSearchParams({ link: await linkFor(yard, "ann") });
    const signed = await yard.call("POST /sign-in", { ...proxied(headers), body });
    const shown = (signed.headers.get("set-cookie") ?? `${signed.status}`).replace(/=[\w-]{43};/, "=…;");
    const cookie = cookieOf(signed);
    const written = await yard.call("POST /api/v1/conversations", { ...proxied(headers), cookie, body: {} });
    return [shown, written.status];
  };
  const trusted = { trustedProxies: ["10.0.0.0/8"] };
  const rest = "Max-Age=2592000; HttpOnly; SameSite=Lax";
  assert.deepEqual(await signIn(trusted, https), [`__Host-agentyard=…; Path=/; ${rest}; Secure`, 201]);
  assert.deepEqual(await signIn(trusted, { ...https, "x-forwarded-prefix": "/yard/" }), [
    `__Secure-agentyard=…; Path=/yard; ${rest}; Secure`,
    201,
  ]);
  assert.deepEqual(await signIn({}, https), [`agentyard=…; Path=/; ${rest}`, 201], "whom we do not trust says nothing");
  const downgraded = await signIn(trusted, { ...https, origin: "http://yard.example" });
  assert.equal(downgraded[0], "403", "a page without https is not ours");
});

test("a page of another site cannot act with the cookie of somebody who is signed in [C6]", async () => {
  await using yard = await peopledYard({ allowedOrigins: ["https://app.example"] });
  const cookie = await signedIn(yard, "ann");
  await yard.start("c", OwnerId.parse("ann"));
  const change = async (headers: Record<string, string>) =>
    (await yard.call("POST /api/v1/conversations", { cookie, body: {}, ...headers })).code || "done";
  assert.equal(await change(here), "done");
  assert.equal(await change({ origin: here.origin }), "done", "older browsers send no more");
  assert.equal(await change({ origin: "https://app.example", "sec-fetch-site": "cross-site" }), "done", "a named site");
  const forged: Record<string, string>[] = [
    {},
    { "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "none" },
    { origin: "null" },
    { origin: "https://evil.example" },
    { origin: "http://127.0.0.1:3000" },
    { origin: "http://localhost:7420" },
    { origin: "http://127.0.0.1:7420.evil.example" },
    { origin: here.origin, "sec-fetch-site": "cross-site" },
    { origin: here.origin, "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" },
  ];
  for (const headers of forged) assert.equal(await change(headers), "page_forged", JSON.stringify(headers));
  const read = async (headers: Record<string, string>) =>
    (await yard.call("GET /api/v1/conversations/c", { cookie, ...headers })).code || "read";
  assert.equal(await read({}), "read");
  assert.equal(await read({ "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" }), "read", "a link to us");
  assert.equal(await read({ "sec-fetch-site": "same-site" }), "page_forged");
  assert.equal(await read({ origin: "https://evil.example" }), "page_forged");
  const key = await yard.keyOf("ann");
  const withKey = { authorization: `Bearer ${key}`, origin: "https://evil.example" };
  assert.equal(await change(withKey), "done", "who has a key is no browser that was talked into it");
  assert.equal(
    await change({ ...here, authorization: "Bearer ay_wrong" }),
    "sign_in_required",
    "no cookie mends a key",
  );
  const signIn = { ...here, body: { user: "ann", password }, origin: "https://evil.example" };
  assert.equal((await yard.call("POST /api/v1/sign-in", signIn)).code, "forbidden_origin", "nor sign anybody in");
});

test("people change their own password with the one they have, and are signed out everywhere [C6]", async () => {
  await using yard = await peopledYard();
  await yard.addUser({ id: "root" });
  await yard.addUser({ id: "ann", password });
  const cookie = await signedIn(yard, "ann");
  const change = async (user: string, body: unknown) => {
    const { status, code } = await yard.call(`PUT /api/v1/users/${user}/password`, { ...here, cookie, body });
    return `${status} ${code}`.trim();
  };
  assert.equal(await change("ann", { password: "another password" }), "401 sign_in_failed");
  assert.equal(await change("ann", { password: "another password", current: "no" }), "401 sign_in_failed");
  assert.equal(await change("ann", { password: "short", current: password }), "422 password_unfit");
  assert.equal(await change("root", { password: "another password" }), "404 user_unknown");
  const own = await yard.call("POST /api/v1/users/ann/keys", { ...here, cookie, body: { scopes: ["chat"] } });
  assert.equal(own.status, 201, "and make their own keys");
  const admin = await yard.call("POST /api/v1/users/ann/keys", { ...here, cookie, body: { scopes: ["admin"] } });
  assert.equal(admin.code, "scope_missing");
  assert.equal(await change("ann", { password: "another password", current: password }), "204");
  assert.equal((await yard.call("GET /api/v1/me", { cookie })).status, 401);
});

test("signing out ends the sandbox session where the settings say so [C6]", async () => {
  for (const signOutEndsSession of [true, false]) {
    await using yard = await peopledYard({ signOutEndsSession }, sandboxOver(playedProvider()));
    const cookie = await signedIn(yard, "ann");
    const made = await yard.call("POST /api/v1/sessions", { ...here, cookie, body: {} });
    assert.equal(made.status, 201);
    await yard.call("POST /api/v1/sign-out", { ...here, cookie });
    const key = await yard.keyOf("ann");
    const session = await yard.call("GET /api/v1/sessions/sess-ann", { "x-api-key": key });
    assert.equal(JSON.parse(session.text).status === "running", !signOutEndsSession, session.text);
  }
});

test("a browser in use is told its new end, and keeps its cookie [C6]", async () => {
  const clock = manualClock();
  await using yard = await peopledYard({}, { clock });
  const cookie = await signedIn(yard, "ann");
  assert.equal((await yard.call("GET /api/v1/me", { cookie })).headers.get("set-cookie"), null);
  clock.move(2 * 86_400_000);
  const later = await yard.call("GET /api/v1/me", { cookie });
  assert.equal(cookieOf(later), cookie);
  clock.move(31 * 86_400_000);
  assert.equal((await yard.call("GET /api/v1/me", { cookie })).status, 401);
});

test("the page to sign in works without scripts, in both languages, and loads nothing from elsewhere [C6][P4]", async () => {
  await using yard = await peopledYard();
  await yard.addUser({ id: "ann", password });
  const page = await yard.call("GET /sign-in?next=/docs");
  const policy = page.headers.get("content-security-policy") ?? "";
  assert.match(policy, /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; frame-ancestors 'none'/);
  assert.equal(page.headers.get("referrer-policy"), "same-origin", "or a form would not name its page");
  assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
  assert.doesNotMatch(page.text, /<script|<link|src=|https?:/);
  assert.match(page.text, /<html lang="en">[\s\S]*<label for="user">User<\/label>[\s\S]*<label for="password">/);
  assert.match((await yard.call("GET /sign-in?lang=zh")).text, /<html lang="zh-CN">[\s\S]*<label for="user">用户名</);
  const form = (fields: Record<string, string>) =>
    yard.call("POST /sign-in", { ...here, body: new URLSearchParams({ next: "/docs", ...fields }) });
  const wrong = await form({ user: `"><script>`, password: "x" });
  assert.equal(wrong.status, 401);
  assert.match(wrong.text, /role="alert"[^>]*>This name and password do not fit together\. Check both/);
  assert.match(wrong.text, /value="&#34;&#62;&#60;script&#62;"/);
  const right = await form({ user: "ann", password });
  assert.deepEqual([right.status, right.headers.get("location")], [303, "/docs"]);
  assert.equal((await yard.call("GET /api/v1/me", { cookie: cookieOf(right) })).status, 200);
  const other = await yard.call("DELETE /sign-in");
  assert.deepEqual([other.status, other.headers.get("allow")], [405, "GET, HEAD, POST"]);
  const zh = await form({ link: "used", lang: "zh" });
  assert.match(zh.text, /<html lang="zh-CN">[\s\S]*role="alert"[^>]*>[\u4e00-\u9fff]/);
  await using empty = await peopledYard();
  assert.match(
    (await empty.call("GET /sign-in")).text,
    /There are no users yet: on the machine of the server nobody has to sign in/,
  );
});

test("a person who is not signed in is led to the page, and back; a program is told [C6]", async () => {
  await using yard = await peopledYard();
  await yard.keyOf("ann");
  const led = await yard.call("GET /api/v1/me?x=1", { "sec-fetch-mode": "navigate", "sec-fetch-site": "cross-site" });
  assert.deepEqual([led.status, led.headers.get("location")], [303, "/sign-in?next=%2Fapi%2Fv1%2Fme%3Fx%3D1"]);
});

test("a link is only looked at when it is opened, so that a program that reads ahead does not use it up [C6]", async () => {
  await using yard = await peopledYard();
  await yard.addUser({ id: "ann", name: "<Ann>" });
  const { path } = await must(yard.client.call("makeSignInLink", { params: { user: "ann" } }));
  assert.match(path, /^\/sign-in\?link=[\w-]{43}$/);
  const link = new URLSearchParams(path.split("?")[1]).get("link") ?? "";
  for (const reader of [
    {},
    { "sec-purpose": "prefetch" },
    { "sec-fetch-mode": "navigate", "sec-fetch-site": "cross-site" },
  ]) {
    const seen = await yard.call(`GET ${path}`, reader);
    assert.match(seen.text, /This link signs you in as &#60;Ann&#62;, once\.[\s\S]*<button>Go on/);
    assert.equal(seen.headers.get("set-cookie"), null);
  }
  const click = () => yard.call("POST /sign-in", { ...here, body: new URLSearchParams({ link }) });
  const clicks = await Promise.all([click(), click()]);
  assert.deepEqual(clicks.map(({ status }) => status).toSorted(), [303, 401]);
  const entered = clicks.find(({ status }) => status === 303) ?? assert.fail();
  assert.equal((await yard.call("GET /api/v1/me", { cookie: cookieOf(entered) })).status, 200);
  const used = await yard.call(`GET ${path}`);
  assert.deepEqual([used.status, /used up or too old/.test(used.text)], [401, true]);
});

/** By a link: hashing a password takes its time. */
async function signedIn(yard: PeopledYard, id: string): Promise<string> {
  await yard.client.call("addUser", { body: { id } });
  return cookieOf(
    await yard.call("POST /sign-in", { ...here, body: new URLSearchParams({ link: await linkFor(yard, id) }) }),
  );
}

async function linkFor({ client }: PeopledYard, user: string): Promise<string> {
  const { path } = await must(client.call("makeSignInLink", { params: { user } }));
  return new URLSearchParams(path.split("?")[1]).get("link") ?? "";
}

function cookieOf({ headers }: Called): string {
  return headers.get("set-cookie")?.split(";")[0] ?? "";
}

type Change = { readonly [header in "cookie" | "authorization" | "address"]?: string } & { readonly body: object };

test("below the path of a proxy people come to that path, and the form is sent there [C6]", async () => {
  await using yard = await peopledYard({ trustedProxies: ["10.0.0.1"], trustedHosts: ["yard.example"] });
  await yard.addUser({ id: "ann" });
  const proxy = {
    address: "10.0.0.1",
    host: "yard.example",
    "x-forwarded-proto": "https",
    "x-forwarded-prefix": "/yard",
  };
  const page = await yard.call("GET /sign-in", proxy);
  assert.match(
    page.text,
    /<form method="post" action="\/yard\/sign-in"><input type="hidden" name="next" value="\/yard\/">/,
  );
  const { path } = await must(yard.client.call("makeSignInLink", { params: { user: "ann" } }));
  const link = new URLSearchParams(path.split("?")[1]).get("link") ?? "";
  const origin = "https://yard.example";
  const entered = await yard.call("POST /sign-in", { ...proxy, origin, body: new URLSearchParams({ link }) });
  assert.deepEqual([entered.status, entered.headers.get("location")], [303, "/yard/"]);
});

test("whoever guesses at a password to change it is stopped like one who signs in with it, and whoever knows it is not [C6]", async () => {
  // However slow the machine is, all of it is within one minute.
  const clock = { ...systemClock, monotonic: () => 0 };
  await using yard = await peopledYard({ signInsPerMinuteMax: 2 }, { clock });
  await yard.addUser({ id: "ann", password });
  const cookie = cookieOf(
    await yard.call("POST /sign-in", { ...here, body: new URLSearchParams({ link: await linkFor(yard, "ann") }) }),
  );
  const change = async (user: string, sent: Change) => {
    const { status, code } = await yard.call(`PUT /api/v1/users/${user}/password`, { ...here, ...sent });
    return `${status} ${code}`.trim();
  };
  const [short, other] = [{ password: "short" }, { password: "another password" }];
  for (let times = 0; times < 3; times += 1)
    assert.equal(await change("ann", { cookie, body: { ...short, current: password } }), "422 password_unfit");
  const wrong = { cookie, body: { ...other, current: "no" } };
  assert.deepEqual([await change("ann", wrong), await change("ann", wrong)], Array(2).fill("401 sign_in_failed"));
  const right = { cookie, body: { ...other, current: password } };
  assert.equal(await change("ann", right), "429 rate_limited", "by place");
  assert.equal(await change("ann", { ...right, address: "127.0.0.9" }), "204");
  const known = { cookie, body: { ...other, current: password } };
  assert.equal((await change("ann", known)).slice(0, 3), "401", "and signs out everywhere");
});

test("after signing in people come to a page of ours and nowhere else, whatever the address says [C6][Q1]", async () => {
  await using yard = await peopledYard({ trustedProxies: ["10.0.0.1"], trustedHosts: ["yard.example"] });
  await yard.addUser({ id: "ann", password });
  const proxy = { address: "10.0.0.1", host: "yard.example", "x-forwarded-prefix": "/yard" };
  const led = async (next: string) => {
    const form = new URLSearchParams({ user: "ann", password, next });
    const entered = await yard.call("POST /sign-in", { ...proxy, origin: "http://yard.example", body: form });
    assert.equal(entered.status, 303);
    return entered.headers.get("location");
  };
  for (const own of ["/yard/c/1?a=b", "/", "/x#y"]) assert.equal(await led(own), own);
  const others = [
    "javascript:alert(1)",
    "//evil.example",
    "/\\evil.example",
    "https://evil.example",
    "c/1",
    "",
    "/a\\b",
    "/a b",
    "/\t/evil",
  ];
  for (const other of others) assert.equal(await led(other), "/yard/", other);
});
