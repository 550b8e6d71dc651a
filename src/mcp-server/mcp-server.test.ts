import assert from "node:assert/strict";
import { test } from "node:test";
import type { ServerContext } from "@modelcontextprotocol/server";
import { systemClock } from "../base/clock.ts";
import { createClient } from "../client/client.ts";
import { wordsFor } from "../words/words.ts";
import { mcpLimits } from "./limits.ts";
import { Offer } from "./offer.ts";
import { Visitor } from "./visitor.ts";

const visitor = new Visitor({
  owner: "ada",
  client: createClient({ fetch: () => assert.fail("nothing is asked for here") }),
  words: wordsFor("en"),
  clock: systemClock,
  closing: new AbortController().signal,
});
/** As over standard input, where the transport does not say who calls. */
const context = {} as ServerContext;

test("as many files as may be are read whole at once for one user, and the next when one of them is through [G2][Q1]", async () => {
  const offer = new Offer({ log: { error() {} }, usual: visitor });
  const { promise, resolve } = Promise.withResolvers<string>();
  const { readsPerUserMax } = mcpLimits;
  const reading = Array.from({ length: readsPerUserMax }, () => offer.read(context, () => promise));
  await assert.rejects(
    offer.read(context, () => promise),
    /4/,
  );
  resolve("through");
  assert.deepEqual(await Promise.all(reading), Array(readsPerUserMax).fill("through"));
  assert.equal(await offer.read(context, async () => "next"), "next");
  await assert.rejects(
    offer.read(context, () => Promise.reject(new Error("broken"))),
    /broken/,
  );
  assert.equal(await offer.read(context, async () => "and after a mistake"), "and after a mistake");
});
