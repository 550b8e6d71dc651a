import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { testWorkspace } from "../../test/world/workspace.ts";
import { failure } from "../protocol/failure.ts";

test("a transfer that says nothing more is given up when it is stopped, and leaves nothing behind [W11][L6]", async (t) => {
  const { workspace, base, folder } = await testWorkspace(t);
  const stop = new AbortController();
  const silent = (async function* () {
    yield Buffer.from("half");
    await new Promise<void>(() => queueMicrotask(() => stop.abort("cancel")));
  })();
  const writes = [silent, endless()].map((data, n) =>
    workspace.write(`outputs/${n}.txt`, data, { signal: stop.signal }),
  );
  assert.deepEqual(
    await Promise.all(writes),
    [0, 1].map((n) => failure("write_failed", { path: `outputs/${n}.txt`, why: "broken_off" })),
  );
  assert.deepEqual([readdirSync(join(folder, "outputs")), readdirSync(join(base, "staging"))], [[], []]);
});

test("of many files that come in under one signal none is listened for once it is there [L6]", async (t) => {
  const { workspace } = await testWorkspace(t);
  const { signal } = new AbortController();
  const whole = (async function* () {
    yield Buffer.from("all of it");
  })();
  assert.equal((await workspace.write("outputs/a", whole, { signal })).ok, true);
  assert.deepEqual(getEventListeners(signal, "abort"), []);
});

async function* endless() {
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve));
    yield Buffer.from("more");
  }
}
