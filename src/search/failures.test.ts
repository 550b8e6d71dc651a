import assert from "node:assert/strict";
import { test } from "node:test";
import { failureOf } from "./failures.ts";

test("what befalls the index is told by its cause, whether SQLite, the system or the thread said it [D2][P4]", () => {
  for (const [why, codes] of [
    ["busy", [5, 6, 15]],
    ["read_only", [8, 14, "EACCES", "EPERM", "EROFS"]],
    ["damaged", [11, 26]],
    ["full", [13, "ENOSPC", "EDQUOT", "EFBIG"]],
    ["memory", ["memory"]],
    ["stopped", ["ended"]],
    ["broken", [1, "EIO"]],
  ] as const)
    for (const code of codes)
      assert.deepEqual(failureOf({ code, said: "no" }).failure, {
        ...{ code: "index_unavailable", params: { why, said: "no" } },
        retryable: failureOf({ code: 1, said: "no" }).failure.retryable,
      });
});
