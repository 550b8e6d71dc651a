import assert from "node:assert/strict";
import { test } from "node:test";
import { peopledYard } from "../world/callers.ts";
import { startYard } from "../world/yard.ts";

test("the docs page lists every route, in the reader's language, and loads nothing from elsewhere [C7][P4]", async () => {
  await using yard = await startYard();
  const { app } = yard;
  const document = JSON.parse(await (await app.request("/openapi.json")).text());
  const operations = Object.values(document.paths)
    .flatMap((methods) => Object.values(Object(methods)))
    .filter((operation) => !Object.hasOwn(Object(operation), "x-same-as"));
  for (const [language, search, about] of [
    ["en", "Search routes", "may name its user with <code>x-account-id</code>"],
    ["zh", "搜索接口", "可以用 <code>x-account-id</code> 说明"],
  ] as const) {
    const response = await app.request("/docs", { headers: { "accept-language": language } });
    assert.equal(response.headers.get("content-type"), "text/html; charset=utf-8");
    assert.match(response.headers.get("content-security-policy") ?? "", /^default-src 'none'; script-src 'self';/);
    const page = await response.text();
    assert.equal([...page.matchAll(/<details id="/g)].length, operations.length);
    assert.match(page, new RegExp(`placeholder="${search}"`));
    assert.ok(page.includes(about), language);
    assert.doesNotMatch(page, /(?:src|href|action)="\s*(?:https?:)?\/\/|<script>|style="|onclick/);
  }
  const chosen = await app.request("/docs?lang=zh", { headers: { "accept-language": "en" } });
  const told = ["content-language", "vary"].map((name) => chosen.headers.get(name));
  assert.deepEqual(told, ["zh", "accept-language"], "caches keep the languages apart");
  assert.match(await chosen.text(), /<html lang="zh-CN">/);
});

test("whatever a page loads is there, with its type, and cannot be taken for something else [C7][Q1]", async () => {
  await using yard = await startYard();
  const { app } = yard;
  const page = await (await app.request("/docs")).text();
  const links = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, link = ""]) => link);
  assert.deepEqual(links, ["/docs/page.css", "/openapi.json", "/docs/page.js"]);
  const types = await Promise.all(
    links.map(async (link) => {
      const { status, headers } = await app.request(link);
      return [status, headers.get("content-type")];
    }),
  );
  assert.deepEqual(types, [
    [200, "text/css; charset=utf-8"],
    [200, "application/json"],
    [200, "text/javascript; charset=utf-8"],
  ]);
  assert.equal((await app.request("/docs", { method: "POST" })).status, 405);
});

test("the address itself tells where to begin, and every link of it leads somewhere [C7][P4]", async () => {
  await using yard = await startYard();
  const { app } = yard;
  const page = await (await app.request("/", { headers: { "accept-language": "zh" } })).text();
  assert.match(page, /AgentYard 正在运行/);
  const links = [...page.matchAll(/<a href="([^"]+)"/g)].map(([, link = ""]) => link);
  assert.deepEqual(links, ["/docs", "/openapi.json", "/v1/models", "/api/v1/health"]);
  assert.match(page, /<title>AgentYard 正在运行<\/title>.*使用 <code>agentyard<\/code>/s);
  for (const link of links) assert.equal((await app.request(link)).status, 200, link);
});

test("the first page offers to sign in where somebody can, and to sign out whoever is signed in [C6][P4]", async () => {
  await using yard = await peopledYard();
  assert.doesNotMatch((await yard.call("GET /")).text, /sign-in|sign-out/);
  await yard.addUser({ id: "ada", password: "correct horse battery" });
  assert.match((await yard.call("GET /")).text, /<a href="\/sign-in">/);
  const body = { user: "ada", password: "correct horse battery" };
  const origin = "http://127.0.0.1:7420";
  const { headers } = await yard.call("POST /api/v1/sign-in", { body, origin });
  const cookie = headers.get("set-cookie")?.split(";")[0] ?? "";
  const opened = await yard.call("GET /", { cookie, accept: "text/html" });
  assert.equal(opened.status, 200, "who is signed in is not led to sign in");
  const page = opened.text;
  assert.doesNotMatch(page, /sign-in/);
  const byKey = (await yard.call("GET /", { "x-api-key": await yard.keyOf("ada") })).text;
  assert.doesNotMatch(byKey, /sign-out/, "a key is not signed out");
  const appMissing = /build-web\.mjs/;
  assert.deepEqual([appMissing.test(page), appMissing.test((await yard.call("GET /")).text)], [true, false]);
  assert.match(page, /You are signed in as ada\. <button type="button" id="sign-out">Sign out<\/button>/);
  assert.equal((await yard.call("POST /api/v1/sign-out", { cookie, origin, body: {} })).status, 204);
  assert.match((await yard.call("GET /", { cookie })).text, /<a href="\/sign-in">/);
});
