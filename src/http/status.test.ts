import assert from "node:assert/strict";
import { test } from "node:test";
import { storedFailure } from "../protocol/failure.ts";
import { statusesOf, statusOf } from "./status.ts";

test("the status follows the cause where a code has several: a full disk is 507, whoever went away 408 [P4]", () => {
  const status = (code: Parameters<typeof storedFailure>[0], why: string) => statusOf(storedFailure(code, { why }));
  const disk = ["full", "read_only", "changed", "broken_off", "io", "too_many_open"];
  for (const code of ["write_failed", "read_failed"] as const)
    assert.deepEqual(
      disk.map((why) => status(code, why)),
      [507, 503, 409, 408, 500, 503],
    );
  const packages = ["index", "time", "room", "lost", "cancelled"];
  assert.deepEqual(
    packages.map((why) => status("packages_failed", why)),
    [400, 408, 507, 503, 409],
  );
  assert.equal(status("storage_full", ""), 507);
  assert.equal(status("write_failed", "what a later version wrote down"), 500);
  assert.deepEqual(statusesOf("packages_failed"), [400, 408, 507, 503, 409]);
});
