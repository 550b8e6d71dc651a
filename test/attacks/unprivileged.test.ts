import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { cannotStart } from "../contracts/sandbox-guests.ts";
import { runAsNobody } from "../world/as-nobody.ts";

const root = join(import.meta.dirname, "../..");

// Run by somebody else, every file of the suite is such a run by itself.
if (process.geteuid?.() === 0) {
  test("all attacks are stopped for an ordinary user too, or belong to a limit that the probe says is missing [X3][X4]", {
    skip: cannotStart,
  }, async (t) => {
    const files = globSync("test/attacks/*.test.ts", { cwd: root }).filter((file) => !file.includes("unprivileged"));
    const { status, output } = await runAsNobody(t, [
      "--test",
      "--test-reporter=tap",
      "--test-concurrency=2",
      ...files.sort(),
    ]);
    const lines = output.split("\n");
    const failed = lines.filter((line) => /^\s*not ok /.test(line));
    const stopped = lines.filter((line) => /^\s*ok \d+ - attacks? \d/.test(line)).length;
    assert.deepEqual([failed, status, stopped >= attacksMin], [[], 0, true], `${stopped} attacks were stopped`);
  });
}

/** A file that stops to run must not go unnoticed. */
const attacksMin = 110;
