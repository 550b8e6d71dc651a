import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { all } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { modelServer, says } from "../world/model-server.ts";
import { must, startYard } from "../world/yard.ts";

test("a process that is killed after AGENTS.md was put there: the first turn of the next one follows it [Z3][L2]", async (t) => {
  const data = folderWith(t, {});
  await using model = await modelServer(() => says("yes"));
  const child = join(import.meta.dirname, "standing-child.ts");
  const killed = spawnSync(process.execPath, [child, JSON.stringify({ data, modelUrl: model.url })], {
    stdio: ["ignore", "inherit", "inherit"],
    timeout: 120_000,
  });
  assert.equal(killed.signal, "SIGKILL");

  await using yard = await startYard({ model, data });
  const { events } = await yard.ask("hello", { conversation: "verses" });
  assert.match(
    String(model.asked[0]?.body.messages[0]?.content),
    /\n<standing_instructions>\nAnswer in verse\.\n<\/standing_instructions>/,
  );
  assert.deepEqual(
    all(events, "recipe.set").map(({ cause, instructions }) => [cause, instructions?.path]),
    [["start", "uploads/AGENTS.md"]],
  );
  const report = await must(yard.client.call("replay", { params: { id: "verses" } }));
  assert.deepEqual(report.differences, []);
});
