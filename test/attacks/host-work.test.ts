import assert from "node:assert/strict";
import { test } from "node:test";
import { cannotStart } from "../contracts/sandbox-guests.ts";
import { openGround } from "../contracts/sandbox-service-place.ts";

// What a program can make the host do on its behalf.

test("attack 163: filling the log with files that nobody may read is stopped by its few lines [X4][O1]", {
  skip: cannotStart,
}, async (t) => {
  const ground = await openGround(t);
  const place = await ground.place("c1");
  const ran = async (code: string) => {
    const wanted = { language: "python", code, timeoutMs: 30_000, conversationId: "c1" } as const;
    const submitted = await ground.sandbox.executions.submit(place, wanted);
    assert.ok(submitted.ok);
    const { owner, id } = submitted.value;
    return ground.sandbox.executions.wait(owner, id, new AbortController().signal);
  };
  await ran(`
import os
open("temp/a", "w").write("x")
for number in range(3000): os.link("temp/a", f"temp/h{number}")
`);
  const before = ground.logged.length;
  const over = await ran("os.chmod('temp/a', 0o600); open('temp/z', 'w').write('fine')");
  assert.deepEqual([over?.status, over?.report?.changes.length], ["completed", 500]);
  const refused = ground.logged.slice(before).filter((line) => line.includes("refused"));
  assert.ok(refused.length > 0 && refused.length < 20, `${refused.length} lines`);
});
