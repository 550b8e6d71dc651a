import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { Hono } from "hono";
import { type Door, type Env, goneSignal } from "./door.ts";

test("a request ends with the key behind it, and leaves nothing at the key's signal when it is over [C6][Q1]", async () => {
  const key = new AbortController();
  const waiting = () => getEventListeners(key.signal, "abort").length;
  const [first, second] = [await begin(key.signal), await begin(key.signal)];
  assert.equal(waiting(), 2);
  first.end();
  assert.equal(waiting(), 1);
  key.abort();
  assert.deepEqual([first.gone.aborted, second.gone.aborted, waiting()], [false, true, 0]);
  assert.equal((await begin(key.signal)).gone.aborted, true, "it was taken away before");
  const caller = new AbortController();
  const left = await begin(new AbortController().signal, caller.signal);
  caller.abort();
  assert.equal(left.gone.aborted, true);
});

async function begin(taken: AbortSignal, signal?: AbortSignal) {
  const app = new Hono<Env>();
  let gone: AbortSignal | undefined;
  app.get("/", (c) => {
    c.set("caller", { signedIn: undefined, scopes: [], taken });
    gone = goneSignal(c);
    return c.body(null);
  });
  const ends: (() => void)[] = [];
  const door: Door = { onEnd: (listener) => void ends.push(listener) };
  await app.fetch(new Request("http://127.0.0.1/", signal && { signal }), door);
  return { gone: gone ?? assert.fail("it was served"), end: () => ends[0]?.() };
}
