import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { Hono } from "hono";
import type { Door, Env } from "./door.ts";
import { whileLetIn } from "./while-let-in.ts";

/** An answer for somebody whose key may be taken away, of pieces that the test gives. */
async function answer(taken: AbortSignal | undefined, door: Door = {}) {
  let source: ReadableStreamDefaultController<Uint8Array> | undefined;
  let left: unknown;
  const bytes = new ReadableStream<Uint8Array>({
    start(controller) {
      source = controller;
    },
    cancel(reason) {
      left = reason ?? "left";
    },
  });
  const app = new Hono<Env>();
  app.get("/", (c) => {
    c.set("caller", { signedIn: undefined, scopes: [], taken });
    return new Response(whileLetIn(c, bytes));
  });
  const { body } = await app.fetch(new Request("http://127.0.0.1/"), door);
  assert.ok(body !== null && source !== undefined);
  return { reader: body.getReader(), source, left: () => left };
}

const piece = new Uint8Array([1, 2, 3]);

test("an answer goes on while its reader is let in, and leaves nothing at the key when it is over [C6][Q1]", async () => {
  const key = new AbortController();
  const waiting = () => getEventListeners(key.signal, "abort").length;
  const whole = await answer(key.signal);
  whole.source.enqueue(piece);
  assert.deepEqual(await whole.reader.read(), { done: false, value: piece });
  assert.equal(waiting(), 1);
  whole.source.close();
  assert.deepEqual([(await whole.reader.read()).done, waiting()], [true, 0], "when all of it was sent");
  const left = await answer(key.signal);
  await left.reader.cancel("enough");
  assert.deepEqual([left.left(), waiting()], ["enough", 0], "when its reader has left");
  const broken = await answer(key.signal);
  broken.source.error(new Error("the disk"));
  await assert.rejects(broken.reader.read(), /the disk/);
  assert.equal(waiting(), 0, "when it broke off");
  const anybody = await answer(undefined);
  anybody.source.enqueue(piece);
  assert.deepEqual(await anybody.reader.read(), { done: false, value: piece });
});

test("an answer breaks off when what let its reader in is taken away, and what made it ends [C6][Q1]", async () => {
  const key = new AbortController();
  const ends: string[] = [];
  const connected = await answer(key.signal, { breakOff: () => void ends.push("connection") });
  const other = await answer(key.signal);
  const [waits, fails] = [connected.reader.read(), assert.rejects(other.reader.read(), /taken away/)];
  key.abort();
  assert.deepEqual([(await waits).done, ends, connected.left()], [true, ["connection"], "left"]);
  await fails;
  assert.equal(other.left(), "left");
  const late = await answer(key.signal, { breakOff: () => void ends.push("late") });
  assert.deepEqual([(await late.reader.read()).done, ends, late.left()], [true, ["connection", "late"], "left"]);
});
