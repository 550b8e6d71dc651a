import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { localOwner } from "../../src/protocol/ids.ts";
import { all } from "../world/events.ts";
import { modelServer, says } from "../world/model-server.ts";
import { startYard } from "../world/yard.ts";

const window = "8192";
const summary = Array.from({ length: 7 }, (_, n) => `## ${n + 1}. Part\n- tea`).join("\n");

test("a process that is killed while a summary is made: the turn goes on, room is made once, nothing is lost [Z2][Z3][L2]", async (t) => {
  const data = await mkdtemp(join(tmpdir(), "agentyard-crash-"));
  t.after(() => rm(data, { recursive: true, force: true }));
  const asked = Promise.withResolvers<void>();
  let summaries = 0;
  await using model = await modelServer(({ body }) => {
    const isSummary = String(body.messages[0]?.content).startsWith("You sum up");
    if (!isSummary) return { ...says("I see."), usage: null };
    summaries += 1;
    asked.resolve();
    return { ...says(summary), usage: null, ...(summaries === 1 && { fault: { after: 3, kind: "stall" } }) };
  });
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, "compaction-child.ts"), JSON.stringify({ data, modelUrl: model.url, window })],
    { stdio: ["ignore", "inherit", "inherit"] },
  );
  await asked.promise;
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("close", resolve));

  await using yard = await startYard({ model, data, env: { MODEL_BASIC_CONTEXT_WINDOW: window } });
  const { outcome, events } = await yard.whenAtRest("long");
  assert.deepEqual([outcome, summaries], ["done", 2]);
  const compacted = all(events, "compacted");
  assert.deepEqual(
    compacted.map(({ strategy }) => strategy),
    ["compact"],
  );
  assert.match(compacted[0]?.summary ?? "", /<user_words>\nAlways drink tea\.\n<\/user_words>/);
  const found = await yard.log.find(localOwner, "long");
  assert.ok(found.ok);
  assert.deepEqual((await yard.engine.replay(found.value)).differences, []);
});
