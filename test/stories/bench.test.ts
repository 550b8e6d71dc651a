import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

const bench = join(import.meta.dirname, "..", "..", "bench", "bench.ts");

test("the short form of the engine bench runs and prints what a step costs against the bare loop", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bench, "engine", "--quick"], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /50 tool steps\n.*\n +bare +1\.00 .*\n +agentyard +\d+\.\d\d /);
});

test("a bench that does not exist is refused with those that do", () => {
  const { status, stderr } = spawnSync(process.execPath, [bench, "nothing"], { encoding: "utf8" });
  assert.equal(status, 2);
  assert.match(stderr, /engine, start/);
});
