import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { listen } from "../../src/http/http.ts";
import { peopledYard } from "../world/callers.ts";
import { saidOf } from "../world/said.ts";
import { openBrowser, signInServer } from "../world/sign-in-service.ts";
import { must } from "../world/yard.ts";

const people = {
  s1: { preferred_username: "mei", name: "李梅", email: "mei@example.com", email_verified: true },
  s2: { preferred_username: "ann", name: "Another Ann" },
  s3: { email: "bob@example.com", email_verified: true },
  s4: { email: "root@example.com", email_verified: false },
  s5: { preferred_username: "\u00e1dmin", email: "admin@example.com", email_verified: false },
};

test("people sign in through the service that the settings name, and are the same user each time [C6]", async () => {
  await using place = await openPlace({ addsUsers: true });
  const { addUser, client, address, service, me } = place;
  await addUser({ id: "ann", password: "a good password" });
  service.person = "s1";
  const browser = openBrowser();
  const arrived = await browser.go(`${address}/sign-in/oidc?next=%2Fapi%2Fv1%2Fme`);
  assert.deepEqual([arrived.url, arrived.status], [`${address}/api/v1/me`, 200]);
  const { user, scopes, by } = JSON.parse(arrived.text);
  const known = { id: "mei", name: "李梅", isAdmin: false, hasPassword: false, hasService: true };
  assert.deepEqual([{ ...known, createdAt: user.createdAt }, scopes, by], [user, ["chat", "files"], "cookie"]);
  assert.ok(!browser.jar.has("agentyard-way"), "what was kept on the way is gone");
  assert.equal(await me("s1"), "mei");
  assert.equal(await me("s2"), "ann-2", "a name that is taken is not taken over");
  assert.equal(await me("s3"), "bob@example.com");
  assert.equal(await me("s4"), "s4", "an address that nobody checked names nobody");
  assert.equal((await must(client.call("listUsers"))).items.length, 5);
  const page = await (await fetch(`${address}/sign-in`)).text();
  assert.match(page, /href="\/sign-in\/oidc\?next=%2F">Sign in with Example</);
});

test("the first person of all comes in through the service with a browser, while no other page gets anywhere [C6]", async () => {
  await using place = await openPlace({ addsUsers: true });
  assert.equal(await place.me("s1"), "mei");
  await using yard = await peopledYard();
  const sent = { "sec-fetch-mode": "navigate", "sec-fetch-site": "cross-site" };
  const ask = async (wanted: string, headers: Record<string, string>) => (await yard.call(wanted, headers)).status;
  assert.deepEqual(
    [
      await ask("GET /sign-in", sent),
      await ask("GET /api/v1/mcp/callback?state=none", sent),
      await ask("GET /sign-in-elsewhere", sent),
      await ask("GET /api/v1/conversations", sent),
      await ask("GET /sign-in", { ...sent, "sec-fetch-mode": "cors" }),
      await ask("POST /sign-in", sent),
    ],
    [200, 400, 403, 403, 403, 403],
  );
});

test("who is not a user is told so, unless the settings add everybody [C6][P4]", async () => {
  await using place = await openPlace({ addsUsers: false });
  const { addUser, address, service, me } = place;
  await addUser({ id: "root", password: "a good password" });
  service.person = "s1";
  const browser = openBrowser();
  const refused = await browser.go(`${address}/sign-in/oidc`);
  assert.equal(refused.status, 403);
  assert.match(refused.text, /role="alert"[^>]*>mei is not a user here\. Ask the operator of this server/);
  assert.ok(!browser.jar.has("agentyard"));
  assert.match(refused.text, /\(agentyard user add NAME --sign-in-as …\) as mei@example\.com/);
  await addUser({ id: "mei", signInAs: "mei@example.com" });
  assert.equal(await me("s1"), "mei", "they are the user that was added for them");
  await addUser({ id: "bea", signInAs: "s2" });
  assert.equal(await me("s2"), "bea", "also by the subject of the service");
});

test("who calls themselves like a user without a password does not become that user, and neither does an unchecked address [C6]", async () => {
  for (const addsUsers of [false, true]) {
    await using place = await openPlace({ addsUsers });
    const { addUser, address, service } = place;
    await addUser({ id: "admin" });
    await addUser({ id: "boss", signInAs: "admin@example.com" });
    service.person = "s5";
    const browser = openBrowser();
    const { status, text } = await browser.go(`${address}/sign-in/oidc?next=/api/v1/me`);
    const who = addsUsers ? JSON.parse(text).user : undefined;
    assert.deepEqual(
      [status, who?.id, who?.isAdmin],
      addsUsers ? [200, "admin-2", false] : [403, undefined, undefined],
    );
    assert.equal(browser.jar.has("agentyard"), addsUsers);
  }
});

test("an answer that was not asked for by this browser, or was used before, signs nobody in [C6]", async () => {
  await using place = await openPlace({ addsUsers: true });
  const { address, service, addUser } = place;
  await addUser({ id: "root" });
  service.person = "s1";
  const stop = `${address}/sign-in/oidc/callback`;
  const begun = async () => {
    const browser = openBrowser();
    const { url } = await browser.go(`${address}/sign-in/oidc`, { stop });
    assert.ok(url.startsWith(stop), url);
    return { browser, url };
  };
  const outcome = async (browser: ReturnType<typeof openBrowser>, url: string) => {
    const { status } = await browser.go(url);
    return [status, browser.jar.has("agentyard")];
  };
  const victim = await begun();
  const another = openBrowser();
  const expired = await another.go(victim.url);
  assert.deepEqual([expired.status, another.jar.has("agentyard")], [401, false]);
  assert.ok(expired.text.includes(saidOf("sign_in_expired", {})), expired.text);
  const attacker = await begun();
  assert.deepEqual(await outcome(victim.browser, attacker.url), [502, false], "the answer to another one's question");
  const forged = await begun();
  const parts = (forged.browser.jar.get("agentyard-way") ?? "").split(".");
  forged.browser.jar.set("agentyard-way", `${parts[0]}.${"A".repeat(43)}`);
  assert.deepEqual(await outcome(forged.browser, forged.url), [401, false], "what we did not sign");
  const otherIssuer = await begun();
  const renamed = new URL(otherIssuer.url);
  renamed.searchParams.set("iss", "https://evil.example");
  assert.deepEqual(await outcome(otherIssuer.browser, renamed.href), [502, false], "another service");
  const twice = await begun();
  const way = twice.browser.jar.get("agentyard-way") ?? "";
  await twice.browser.go(twice.url, {});
  assert.ok(twice.browser.jar.delete("agentyard"));
  twice.browser.jar.set("agentyard-way", way);
  assert.deepEqual(await outcome(twice.browser, twice.url), [502, false], "used before");
});

test("over https no neighbour sets what the browser keeps on its way to the service, and a foreign one shuts nobody out [C6]", async () => {
  await using place = await openPlace({ addsUsers: true });
  const { service, addUser, call } = place;
  await addUser({ id: "root" });
  service.person = "s1";
  const proxy = { address: "10.0.0.1", host: "yard.example", "x-forwarded-proto": "https" };
  service.serve("https://yard.example/sign-in/oidc/callback");
  const begun = await call("GET /sign-in/oidc", proxy);
  const [name = "", way = ""] = (begun.headers.get("set-cookie") ?? "").split(/[=;]/);
  assert.match(begun.headers.get("set-cookie") ?? "", /^__Host-agentyard-way=[^;]+; Path=\/; .*Secure$/);
  const asked = await openBrowser().go(begun.headers.get("location") ?? "", { stop: "https://yard.example" });
  const back = new URL(asked.url);
  const arrived = (cookie: string) => call(`GET ${back.pathname}${back.search}`, { ...proxy, cookie });
  assert.equal((await arrived(`agentyard-way=${way}`)).status, 401, "under a name that a neighbour can give");
  const signed = await arrived(`${name}=foreign; ${name}=${way}`);
  assert.equal(signed.status, 303, signed.text);
  const set = signed.headers.getSetCookie().map((cookie) => cookie.split("=")[0]);
  assert.deepEqual(set, ["__Host-agentyard-way", "__Host-agentyard"]);
});

test("when the service is away or the person says no, the page tells so and all else goes on [C6][P4]", async () => {
  await using place = await openPlace({ addsUsers: true, isAway: true });
  const { address, service, serve } = place;
  const away = await openBrowser().go(`${address}/sign-in/oidc?lang=zh`);
  assert.equal(away.status, 502);
  assert.match(away.text, /<html lang="zh-CN">[\s\S]*role="alert"[^>]*>登录服务未能完成/);
  serve();
  const refused = await openBrowser().go(`${address}/sign-in/oidc`);
  assert.equal(refused.status, 502);
  assert.ok(refused.text.includes(saidOf("sign_in_service_failed", { why: "the person said no" })), refused.text);
  service.person = "s1";
  const browser = openBrowser();
  await browser.go(`${address}/sign-in/oidc`);
  assert.ok(browser.jar.has("agentyard"));
});

test("below the path of a proxy the service leads back there, and what the browser keeps on its way is sent nowhere else [C6]", async () => {
  await using place = await openPlace({ addsUsers: true });
  const { service, addUser, call } = place;
  await addUser({ id: "root" });
  service.person = "s1";
  const there = { address: "10.0.0.1", host: "yard.example", "x-forwarded-prefix": "/yard" };
  const callback = "https://yard.example/yard/sign-in/oidc/callback";
  service.serve(callback);
  const proxy = { ...there, "x-forwarded-proto": "https" };
  const begun = await call("GET /sign-in/oidc?next=/yard/docs", proxy);
  const asked = begun.headers.get("location") ?? "";
  assert.equal(new URL(asked).searchParams.get("redirect_uri"), callback);
  const [kept = "", ...how] = (begun.headers.get("set-cookie") ?? "").split("; ");
  assert.match(kept, /^__Secure-agentyard-way=./);
  assert.deepEqual(how, ["Path=/yard/sign-in", "Max-Age=600", "HttpOnly", "SameSite=Lax", "Secure"]);
  const back = new URL((await openBrowser().go(asked, { stop: "https://yard.example" })).url);
  const path = back.pathname.replace(/^\/yard/, "");
  const [name = ""] = kept.split("=");
  const signed = await call(`GET ${path}${back.search}`, { ...proxy, cookie: `${kept}; ${name}=foreign` });
  assert.deepEqual([signed.status, signed.headers.get("location")], [303, "/yard/docs"], "ours comes first");
  const [gone = ""] = signed.headers.getSetCookie();
  assert.match(gone, /^__Secure-agentyard-way=; Path=\/yard\/sign-in; Max-Age=0; /);
  const plain = await call("GET /sign-in/oidc", { ...there, "x-forwarded-proto": "http" });
  assert.match(plain.headers.get("set-cookie") ?? "", /^agentyard-way=[^;]+; Path=\/yard\/sign-in; /);
  const { "x-forwarded-prefix": _, ...bare } = there;
  const short = (await call("GET /sign-in/oidc", bare)).headers.get("set-cookie") ?? "";
  assert.match(short, /^agentyard-way=[^;]+; Path=\/sign-in; /);
});

async function openPlace({ addsUsers, isAway = false }: { addsUsers: boolean; isAway?: boolean }) {
  const service = await signInServer(people);
  const { issuer, secret: clientSecret } = service;
  const oidc = {
    issuer,
    clientId: "agentyard",
    clientSecret,
    name: "Example",
    addsUsers,
    scopes: ["profile", "email"],
  };
  const proxied = { trustedProxies: ["10.0.0.1"], trustedHosts: ["yard.example"] };
  const yard = await peopledYard({ signInsPerMinuteMax: 1_000, oidc, ...proxied });
  const server = await listen(yard.app, { host: "127.0.0.1", port: 0 }, { clock: systemClock });
  assert.ok(server.ok);
  const { address, close } = server.value;
  const serve = () => service.serve(`${address}/sign-in/oidc/callback`);
  if (!isAway) serve();
  return {
    ...{ addUser: yard.addUser, call: yard.call, client: yard.client, address, service, serve },
    /** Who somebody is here, once they are signed in. */
    async me(person: string): Promise<string> {
      service.person = person;
      const { text } = await openBrowser().go(`${address}/sign-in/oidc?next=/api/v1/me`);
      return JSON.parse(text).user.id;
    },
    async [Symbol.asyncDispose]() {
      await close();
      await yard[Symbol.asyncDispose]();
      await service.close();
    },
  };
}
