import assert from "node:assert/strict";
import { test } from "node:test";
import { Hono } from "hono";
import { type Failure, makeFailure } from "../protocol/failure.ts";
import type { Env } from "./door.ts";
import { refuse } from "./problem.ts";

/** A refusal as it goes out; `before`: what the answer says already. */
async function refused(reason: Failure, before?: string) {
  const app = new Hono<Env>();
  app.get("/", (c) => {
    c.set("requestId", "r-1");
    c.set("language", "en");
    c.set("dialect", "own");
    if (before !== undefined) c.header("retry-after", before);
    return refuse(c, reason, { more: 1, code: "of something else" });
  });
  const answer = await app.fetch(new Request("http://here/"));
  const { code, more } = Object(await answer.json());
  assert.deepEqual([code, more], [reason.code, 1], "what stands beside never takes the place of what is refused");
  return [answer.status, answer.headers.get("retry-after")];
}

test("whoever is refused for a while is told how long in whole seconds, never too soon, and as well as anybody knows [P4][C6]", async () => {
  const limited = (retryAfterSeconds: number) => makeFailure("rate_limited", { retryAfterSeconds });
  assert.deepEqual(await refused(limited(1.2)), [429, "2"]);
  assert.deepEqual(await refused(limited(3)), [429, "3"]);
  assert.deepEqual(await refused(limited(3), "9"), [429, "3"]);
  assert.deepEqual(await refused(makeFailure("storage_busy", {})), [503, "5"]);
  assert.deepEqual(await refused(makeFailure("storage_busy", {}), "1"), [503, "1"]);
  assert.deepEqual(await refused(makeFailure("storage_full", {})), [507, "5"]);
  assert.deepEqual(await refused(makeFailure("streams_full", { limit: 20 })), [429, "5"]);
  assert.deepEqual(await refused(makeFailure("bad_request", { what: "x" })), [400, null]);
});
