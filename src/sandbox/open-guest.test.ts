import assert from "node:assert/strict";
import { test } from "node:test";
import { failure, makeFailure } from "../protocol/failure.ts";
import { fileRefusal } from "./open-guest.ts";

test("what keeps files from a sandbox is told as it is, and what makes no sense of a program as a disk that failed [X3][P5]", () => {
  for (const known of [
    makeFailure("workspace_not_assigned", { agent: "root" }),
    makeFailure("write_failed", { path: "a", why: "full" }),
    makeFailure("quota_exceeded", { path: ".", what: "files", limit: 1, setting: "workspace.files_max" }),
    makeFailure("path_invalid", { path: "a", why: "too_long" }),
    makeFailure("path_traversal_blocked", { path: ".." }),
  ])
    assert.deepEqual(fileRefusal(known), { ok: false, failure: known });
  const odd = makeFailure("not_a_file", { path: "a" });
  assert.deepEqual(fileRefusal(odd), failure("write_failed", { path: ".", why: "io" }));
});
