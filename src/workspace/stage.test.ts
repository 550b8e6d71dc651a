import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { getEventListeners } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
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

test("a large file whose sender uses the same memory for every piece comes in as it was sent [W11][F4]", async (t) => {
  const { workspace, folder } = await testWorkspace(t);
  const piece = Buffer.alloc(2 * 1024 * 1024);
  const expected = createHash("sha256");
  const source = (async function* () {
    for (let count = 0; count < 13; count += 1) {
      piece.fill(count + 1);
      expected.update(piece);
      yield piece;
      // Whoever was given it is done with it by now.
      piece.fill(255);
    }
  })();
  const written = await workspace.write("outputs/large", source);
  assert.ok(written.ok);
  const hash = expected.digest("hex");
  assert.deepEqual(written.value.after, { hash, bytes: 13 * piece.length, mode: 0o644 });
  assert.equal(
    createHash("sha256")
      .update(readFileSync(join(folder, "outputs", "large")))
      .digest("hex"),
    hash,
  );
});

test("a file may be as large as was said and as its workspace, and not by one byte larger; what is refused leaves nothing [W11][F4]", async (t) => {
  const { workspace, base, folder } = await testWorkspace(t, { limits: { bytesMax: 10 } });
  const limit = { bytes: 6, setting: "files.max" };
  const write = (text: string, options = {}) => workspace.write("outputs/a", text, options);
  const refused = { path: "outputs/a", sizeBytes: 7, limitBytes: 6, setting: "files.max" };
  assert.deepEqual(await write("1234567", { limit }), failure("too_large", refused));
  const quota = { path: "outputs/a", what: "bytes", limit: 10, setting: "workspace.bytes_max" } as const;
  assert.deepEqual(await write("12345678901"), failure("quota_exceeded", quota));
  assert.deepEqual([readdirSync(join(folder, "outputs")), readdirSync(join(base, "staging"))], [[], []]);
  assert.equal((await write("123456", { limit })).ok, true);
  assert.equal((await write("1234567890")).ok, true);
});

test("a file for which no name is found is refused with the reason, and nothing of it stays [W11][F4]", async (t) => {
  const { workspace, base, folder } = await testWorkspace(t);
  await workspace.write("outputs/taken", "mine");
  const reason = failure("conflict", { path: "outputs/new" });
  const seen: string[][] = [];
  const choose = (taken: ReadonlySet<string>) => {
    seen.push([...taken]);
    return reason;
  };
  assert.deepEqual(await workspace.write("outputs/new", "late", { choose }), reason);
  assert.deepEqual(await workspace.write("outputs/not/there", "late", { choose }), reason);
  assert.deepEqual(seen, [["taken"], []]);
  assert.deepEqual([readdirSync(join(folder, "outputs")), readdirSync(join(base, "staging"))], [["taken"], []]);
});

async function* endless() {
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve));
    yield Buffer.from("more");
  }
}
