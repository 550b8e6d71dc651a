import assert from "node:assert/strict";
import { once } from "node:events";
import { duplexPair } from "node:stream";
import { test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { readAttached } from "./attached.ts";

test("who writes to a container waits until it reads, and hears of its end, however that comes [X3][X4]", async () => {
  const [near, far] = duplexPair();
  const { stdio } = readAttached(near);
  let isWritten = false;
  stdio.write(Buffer.alloc(200_000), () => (isWritten = true));
  for (let turn = 0; turn < 20; turn += 1) await nextLoop();
  assert.equal(isWritten, false);
  far.resume();
  far.end();
  await once(stdio, "close");
  assert.equal(isWritten, true);
  for (const error of [undefined, new Error("torn off")]) {
    const [line] = duplexPair();
    const attached = readAttached(line);
    line.destroy(error);
    await once(attached.stdio, "close");
  }
  const [own] = duplexPair();
  readAttached(own).stdio.destroy();
  assert.equal(own.destroyed, true);
});
