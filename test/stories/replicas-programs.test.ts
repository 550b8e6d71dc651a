import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { until } from "../world/events.ts";
import { playedProvider, sandboxOver } from "../world/played-provider.ts";
import { cannotStore } from "../world/postgres-server.ts";
import { startTwo } from "../world/two-yards.ts";
import { openReplica } from "../world/yard.ts";

// Programs of several processes on one database: what runs in one of them is not over because another one begins or ends.

test("a program runs on where it runs, whichever other process begins or ends meanwhile [N1][X4]", {
  skip: cannotStore,
}, async (t) => {
  const provider = playedProvider();
  const options = sandboxOver(provider);
  await using two = await startTwo(options);
  const { one, other } = two;
  const begun = await one.send("POST", "/api/v1/executions/sessions/sb-session-local/execute", {
    json: { code: "long", language: "python" },
  });
  assert.equal(begun.status, 201, begun.text);
  const { execution_id: id } = begun.json;
  const status = async () => (await one.send("GET", `/api/v1/executions/${id}/status`)).json.status;
  await until("it runs", async () => (await status()) === "running");

  const own = mkdtempSync(join(tmpdir(), "agentyard-third-"));
  t.after(() => rmSync(own, { recursive: true, force: true }));
  const { storage, secretKey = "" } = one.config;
  const shared = { AGENTYARD_DATABASE_URL: storage.database?.url ?? "", AGENTYARD_KEY: secretKey };
  const third = await openReplica(options, { own, shared, clock: systemClock });
  t.after(async () => {
    await third.yard.close();
    await third.peers.close();
    await third.logger.close();
  });
  await other.close();
  assert.equal(await status(), "running");
  for (const execution of provider.guests.flatMap(({ running }) => [...running.values()])) execution.finish();
  await until("it is done", async () => (await status()) === "completed");
  await one.close();
  const told = await third.yard.fetch(`http://third/api/v1/executions/${id}/status`, { method: "GET", headers: {} });
  assert.match(await told.text(), /"status":"completed"/);
});
