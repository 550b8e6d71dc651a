import assert from "node:assert/strict";
import { test } from "node:test";
import { Hono } from "hono";
import { shareWith } from "./cors.ts";
import type { Env } from "./door.ts";

const origin = "https://app.example";

async function told(headers: Record<string, string>, method = "OPTIONS", allowed: readonly string[] = [origin]) {
  const app = new Hono<Env>();
  app.all("*", (c) => shareWith(c, allowed) ?? c.text("served"));
  const answer = await app.request("/", { method, headers });
  const named = (name: string) => answer.headers.get(name);
  const [from, methods] = [named("access-control-allow-origin"), named("access-control-allow-methods")];
  return [await answer.text(), from, methods !== null, named("access-control-allow-headers"), named("vary")];
}

test("only a page that asks what it may send is answered so; a request of the same kind goes on, readable for the page [C6]", async () => {
  const asks = { origin, "access-control-request-method": "POST" };
  assert.deepEqual(await told(asks), ["", origin, true, null, "Origin"]);
  assert.deepEqual(await told({ origin }), ["served", origin, false, null, "Origin"]);
  assert.deepEqual(await told(asks, "POST"), ["served", origin, false, null, "Origin"]);
  assert.deepEqual(await told({}), ["served", null, false, null, "Origin"]);
  assert.deepEqual(await told({ ...asks, origin: "https://other.example" }), ["served", null, false, null, "Origin"]);
  assert.deepEqual(await told(asks, "OPTIONS", []), ["served", null, false, null, null], "where nobody is named");
});

test("the headers that a page wants to send are allowed where they can be names of headers, and not without end [C6][Q1]", async () => {
  const wants = async (wanted: string) =>
    (await told({ origin, "access-control-request-method": "PUT", "access-control-request-headers": wanted }))[3];
  assert.equal(await wants("x-api-key, content-type"), "x-api-key, content-type");
  const longest = "x".repeat(2_000);
  assert.deepEqual([await wants(longest), await wants(`${longest}x`), await wants("a: b")], [longest, null, null]);
});
