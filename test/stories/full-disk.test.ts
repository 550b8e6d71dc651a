import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, statfs, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Storage } from "../../src/storage/storage.ts";
import { modelServer, says } from "../world/model-server.ts";
import { startYard } from "../world/yard.ts";

const isRoot = process.getuid?.() === 0;

test("on a full disk a message is refused with what to do, nothing stored is lost, and with room again the conversation goes on [Q2]", {
  skip: isRoot ? false : "needs root to mount a small disk",
}, async (t) => {
  const data = await mkdtemp(join(tmpdir(), "agentyard-full-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", data]);
  t.after(async () => {
    execFileSync("umount", ["-l", data]);
    await rm(data, { recursive: true, force: true });
  });
  await using model = await modelServer(() => says("fine ".repeat(2_000)));
  const full = Promise.withResolvers<string>();
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async append(batch) {
      const stored = await storage.append(batch);
      if (!stored.ok) full.resolve(stored.failure.code);
      return stored;
    },
  });
  await using yard = await startYard({ model, data, wrapStorage });
  const { conversation, outcome } = await yard.ask("first");
  assert.equal(outcome, "done");
  const { bavail, bsize } = await statfs(data);
  await writeFile(join(data, "ballast"), Buffer.alloc(bavail * bsize)).catch((error) =>
    assert.equal(error.code, "ENOSPC"),
  );

  // A little still fits into pages that the database has already; sooner or later it does not.
  const refusals: string[] = [];
  for (let turn = 0; turn < 40 && refusals.length === 0; turn += 1) {
    const sent = await yard.client.call("sendMessage", {
      params: { id: conversation },
      body: { text: `message ${turn} `.repeat(500), mode: "queue" },
    });
    if (!sent.ok) refusals.push(`${sent.failure.code}: ${sent.failure.detail}`);
    else {
      // A turn that cannot be ended waits for room.
      const end = await Promise.race([yard.whenAtRest(conversation), full.promise]);
      if (typeof end === "string") refusals.push(end);
    }
  }
  assert.match(refusals[0] ?? "nothing was refused", /^storage_full/);
  const before = await yard.events(conversation);
  await rm(join(data, "ballast"));
  const next = await yard.ask("and now?", { conversation });
  assert.equal(next.outcome, "done");
  assert.deepEqual(next.events.slice(0, before.length), before, "what was there is still there");
});
