import assert from "node:assert/strict";
import { test } from "node:test";
import { makeFailure } from "../protocol/failure.ts";
import { asFileFailure } from "./folders.ts";

test("what the database could not do is told of files by its cause: full, read-only, or the disk [W7][P4]", () => {
  const disk = (why: "full" | "read_only" | "io") => makeFailure("write_failed", { path: ".", why });
  const cases = [
    [makeFailure("storage_full", {}), disk("full")],
    [makeFailure("storage_read_only", {}), disk("read_only")],
    [makeFailure("storage_busy", {}), disk("io")],
    [makeFailure("fenced", {}), disk("io")],
    [makeFailure("log_moved", {}), disk("io")],
    [makeFailure("storage_broken", { why: "damaged" }), disk("io")],
    [makeFailure("conversation_not_found", { id: "c" }), makeFailure("workspace_not_assigned", { agent: "root" })],
    [makeFailure("conversation_exists", { id: "c" }), makeFailure("workspace_not_assigned", { agent: "root" })],
    [makeFailure("conflict", { path: "a" }), makeFailure("conflict", { path: "a" })],
  ] as const;
  for (const [reason, told] of cases) assert.deepEqual(asFileFailure(reason, "root"), told, reason.code);
});
