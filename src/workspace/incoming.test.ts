import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../base/clock.ts";
import { systemIds } from "../base/ids.ts";
import { ok } from "../base/result.ts";
import type { Logger } from "../observe/observe.ts";
import { localOwner } from "../protocol/ids.ts";
import { openIncoming } from "./incoming.ts";

const nothing = () => {};
const ended = async () => {};
const levels = { error: nothing, warn: nothing, info: nothing, debug: nothing };
const logger: Logger = { path: undefined, ...levels, flush: ended, close: ended };

test("whoever asks for an upload just when it finds its place is not told that there is none [S3]", async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), "incoming-"));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const folder = join(dataDir, "incoming");
  let meanwhile = nothing;
  // The time is asked for when the note has been read, and what has come has not been looked at.
  const now = () => {
    meanwhile();
    return systemClock.now();
  };
  const incoming = openIncoming({ dataDir, clock: { ...systemClock, now }, ids: systemIds, logger });
  const wanted = { owner: localOwner, name: "a.txt", conversationId: "c", folder: "uploads", bytes: 4 };
  const made = await incoming.create(wanted);
  assert.ok(made.ok);
  const { id } = made.value;
  assert.ok((await incoming.append(id, 0, pieces("text"))).ok);
  cpSync(folder, join(dataDir, "before"), { recursive: true });
  const done = { path: "uploads/a.txt", type: "text" };
  assert.deepEqual(await incoming.finish(id, done), ok(undefined));
  cpSync(folder, join(dataDir, "after"), { recursive: true });

  cpSync(join(dataDir, "before"), folder, { recursive: true });
  const before = await incoming.find(id);
  assert.ok(before.ok);
  assert.equal(before.value?.done, undefined);
  meanwhile = () => {
    rmSync(folder, { recursive: true });
    cpSync(join(dataDir, "after"), folder, { recursive: true });
  };
  const found = await incoming.find(id);
  assert.ok(found.ok);
  assert.deepEqual([found.value?.offset, found.value?.done], [4, done]);
});

async function* pieces(text: string): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(text);
}
