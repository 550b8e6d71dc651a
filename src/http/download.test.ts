import assert from "node:assert/strict";
import { test } from "node:test";
import { Hono } from "hono";
import type { Env } from "./door.ts";
import { sendDownload } from "./download.ts";

test("a mistake while a file is sent is told, also when its reader has left meanwhile", async () => {
  for (const isLeft of [false, true]) {
    const told: unknown[] = [];
    const reading = Promise.withResolvers<void>();
    const broken = Promise.withResolvers<void>();
    async function* chunks() {
      yield Buffer.from("first");
      reading.resolve();
      await broken.promise;
    }
    const app = new Hono<Env>();
    app.get("/", (c) => {
      c.set("caller", { signedIn: undefined, scopes: [], taken: new AbortController().signal });
      return sendDownload(c, { archive: { name: "a.zip", chunks } }, (error) => told.push(error));
    });
    const reader = (await app.request("/")).body?.getReader();
    await reader?.read();
    const second = reader?.read().catch((error: unknown) => error);
    await reading.promise;
    const left = isLeft ? reader?.cancel() : undefined;
    const mistake = new TypeError("a mistake of ours");
    broken.reject(mistake);
    await left;
    assert.deepEqual(await second, isLeft ? { done: true, value: undefined } : mistake);
    assert.deepEqual(told, [mistake]);
  }
});
