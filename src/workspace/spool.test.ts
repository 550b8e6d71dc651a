import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderWith } from "../../test/world/folder.ts";
import { openFiles } from "../../test/world/open-files.ts";
import { testWorkspace } from "../../test/world/workspace.ts";
import { systemIds } from "../base/ids.ts";
import { BrokenOff } from "./faults.ts";
import { layoutOf } from "./layout.ts";
import { openSpool } from "./spool.ts";

/** Comes piece by piece, and tells when it has let go of what it comes from. */
function upload(pieces: readonly string[], error?: Error) {
  const state = { isOver: false };
  const chunks = async function* () {
    try {
      for (const piece of pieces) yield Buffer.from(piece);
      if (error !== undefined) throw error;
    } finally {
      await new Promise((resolve) => setImmediate(resolve));
      state.isOver = true;
    }
  };
  return { state, chunks: chunks() };
}

test("what is too large, breaks off or goes wrong is refused when its sender is done with it, and nothing of it is left [F4][Q2]", async (t) => {
  const layout = layoutOf(folderWith(t, {}));
  const limit = { bytes: 8, setting: "uploads.bytes_max" };
  const spool = (from: ReturnType<typeof upload>) =>
    openSpool({ layout, ids: systemIds }, from.chunks, { name: "a.txt", limit });

  const large = upload(["1234", "5678", "9", "never asked for"]);
  const refused = await spool(large);
  assert.deepEqual(refused.ok || refused.failure.params, {
    ...{ path: "a.txt", sizeBytes: 9, limitBytes: 8, setting: "uploads.bytes_max" },
  });
  const cut = upload(["1234"], new BrokenOff("gone"));
  const broken = await spool(cut);
  assert.deepEqual(broken.ok || broken.failure.params, { path: "a.txt", why: "broken_off" });
  const wrong = upload(["1234"], new Error("a mistake of ours"));
  await assert.rejects(spool(wrong), /a mistake of ours/);
  assert.deepEqual(
    [large, cut, wrong].map(({ state }) => state.isOver),
    [true, true, true],
  );
  assert.deepEqual(readdirSync(layout.stagingFolder), []);
  assert.deepEqual(
    openFiles().filter((path) => path.startsWith(layout.dataDir)),
    [],
  );

  const whole = await spool(upload(["1234", "5678"]));
  assert.ok(whole.ok);
  assert.equal(String(await whole.value.read(2, 4)), "3456");
  whole.value.close();
  whole.value.close();
});

test("a write that is refused for its size is answered when its sender is done with it [W11][F4]", async (t) => {
  const { workspace, base } = await testWorkspace(t);
  const stop = new AbortController();
  const large = upload(["1234", "5678", "9"]);
  const limit = { bytes: 8, setting: "uploads.bytes_max" };
  const written = await workspace.write("outputs/a", large.chunks, { limit, signal: stop.signal });
  assert.deepEqual([written.ok || written.failure.code, large.state.isOver], ["too_large", true]);
  assert.deepEqual(readdirSync(join(base, "staging")), []);
});
