import assert from "node:assert/strict";
import { test } from "node:test";
import { bareSupervisor, guestSettings } from "../../../test/world/bare-supervisor.ts";
import { connectGuest } from "./connection.ts";

test("a program that says far more than fits on its way at once is heard to the end [X1]", async (t) => {
  const supervisor = bareSupervisor(t);
  const limits = { outputBytesMax: 64 * 1024 * 1024, fileBytesMax: 1024 };
  const connected = await connectGuest(supervisor.socket, { ...guestSettings(supervisor.workspace), limits });
  assert(connected.ok, supervisor.said());
  const code = "head -c 20000000 /dev/zero";
  let bytes = 0;
  let end = "";
  for await (const event of connected.value.run({ id: "e", language: "bash", code, agent: "a", timeoutMs: 30_000 })) {
    if (event.kind === "output") bytes += event.bytes.length;
    if (event.kind === "exited") end = event.how;
  }
  assert.deepEqual([bytes, end], [20_000_000, "done"]);
});
