import assert from "node:assert/strict";
import { test } from "node:test";
import { Hono } from "hono";
import { ok } from "../base/result.ts";
import { Problem } from "../protocol/resources.ts";
import type { FileStream } from "../workspace/workspace.ts";
import type { Env } from "./door.ts";
import { sendDownload, tagOf } from "./download.ts";

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

test("a part of a file that was replaced since it was looked at is refused, and the file is closed; all of it comes as it is now [S3][Q2]", async () => {
  const looked = { path: "outputs/a.txt", type: "file", bytes: 8, mode: 0o644, modifiedAt: 1 } as const;
  const now = { ...looked, bytes: 9, modifiedAt: 2 };
  let closed = 0;
  const opened = () => {
    const pieces = [Buffer.from("new, new!")];
    const chunks: FileStream["chunks"] = {
      next: async () => {
        const value = pieces.shift();
        return value === undefined ? { done: true, value } : { done: false, value };
      },
      async return() {
        closed += 1;
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]: () => chunks,
    };
    return ok({ stat: now, chunks });
  };
  const app = new Hono<Env>();
  app.get("/", (c) => {
    c.set("requestId", "r");
    c.set("language", "en");
    c.set("dialect", "own");
    c.set("caller", { signedIn: undefined, scopes: [] });
    return sendDownload(c, { stat: looked, open: async () => opened() }, (error) => assert.fail(String(error)));
  });
  const part = await app.request("/", { headers: { range: "bytes=4-" } });
  const { code, params } = Problem.parse(await part.json());
  assert.deepEqual([part.status, code, params], [409, "read_failed", { path: "outputs/a.txt", why: "changed" }]);
  assert.equal(closed, 1);
  const whole = await app.request("/");
  const told = ["content-length", "etag"].map((name) => whole.headers.get(name));
  assert.deepEqual([whole.status, await whole.text(), told], [200, "new, new!", ["9", tagOf(now)]]);
});

test("a reader who leaves in the middle of a read is waited for, and nothing of that is a mistake [Q2]", async () => {
  const reading = Promise.withResolvers<void>();
  const read = Promise.withResolvers<void>();
  const told: unknown[] = [];
  const order: string[] = [];
  const chunks: FileStream["chunks"] = {
    async next() {
      reading.resolve();
      await read.promise;
      order.push("read");
      return { done: false, value: Buffer.from("late") };
    },
    async return() {
      order.push("closed");
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => chunks,
  };
  const stat = { path: "outputs/a.txt", type: "file", bytes: 8, mode: 0o644, modifiedAt: 1 } as const;
  const app = new Hono<Env>();
  app.get("/", (c) => {
    c.set("caller", { signedIn: undefined, scopes: [] });
    return sendDownload(c, { stat, open: async () => ok({ stat, chunks }) }, (error) => told.push(error));
  });
  const reader = (await app.request("/")).body?.getReader();
  const first = reader?.read();
  await reading.promise;
  const left = reader?.cancel();
  await new Promise((resolve) => setImmediate(resolve));
  read.resolve();
  await Promise.all([first, left]);
  assert.deepEqual([order, told], [["read", "closed"], []]);
});
