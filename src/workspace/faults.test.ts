import assert from "node:assert/strict";
import { test } from "node:test";
import { failureOf, type Operation } from "./faults.ts";

/** As Node throws what the system said. */
function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: no`), { code, syscall: "open" });
}

function told(code: string, operation: Operation): string {
  const { code: failed, params } = failureOf(systemError(code), operation, "a.txt");
  return "why" in params ? `${failed} ${params.why}` : failed;
}

test("what the system says to a file becomes a failure with its cause, for reading and for writing [W7][P4]", () => {
  const causes = {
    ENOSPC: "full",
    EDQUOT: "full",
    EFBIG: "full",
    EROFS: "read_only",
    EMFILE: "too_many_open",
    ENFILE: "too_many_open",
    ESTALE: "changed",
    EIO: "io",
  };
  for (const [code, why] of Object.entries(causes)) {
    assert.equal(told(code, "read"), `read_failed ${why}`);
    assert.equal(told(code, "write"), `write_failed ${why}`);
  }
  const others = {
    ENOENT: "file_not_found",
    ENOTDIR: "not_a_folder",
    EISDIR: "not_a_file",
    ENOTEMPTY: "not_a_file",
    EEXIST: "not_a_file",
    ELOOP: "permission_denied link",
    ENXIO: "permission_denied special",
    ENODEV: "permission_denied special",
    EACCES: "permission_denied system",
    EPERM: "permission_denied system",
    EXDEV: "permission_denied elsewhere",
    ENAMETOOLONG: "path_invalid too_long",
  };
  for (const [code, failure] of Object.entries(others))
    assert.deepEqual([told(code, "read"), told(code, "write")], [failure, failure]);
});

test("what the system did not say is a mistake of ours, and thrown on [P4]", () => {
  const mistake = new TypeError("undefined is not a function");
  assert.throws(() => failureOf(mistake, "read", "a.txt"), mistake);
  const ofNode = Object.assign(new Error("no"), { code: "ERR_INVALID_ARG_TYPE" });
  assert.throws(() => failureOf(ofNode, "read", "a.txt"), ofNode);
});
