import assert from "node:assert/strict";
import { test } from "node:test";
import { failureOf } from "./failures.ts";

/** As Node throws what SQLite, or the system, said. */
function told(about: { readonly errcode: number } | { readonly code: string; readonly syscall: string }): unknown {
  const failure = failureOf(Object.assign(new Error("no"), about));
  if (failure === undefined) return undefined;
  return "why" in failure.params ? `${failure.code} ${failure.params.why}` : failure.code;
}

test("what SQLite says becomes a failure with its cause, and what only a mistake of ours can be none [Q2][P4]", () => {
  const said = {
    storage_busy: [5, 6, 15, 261],
    storage_full: [13, 778, 4874],
    storage_read_only: [8, 14],
    "storage_broken removed": [1032],
    // A disk that fails when it is read, and when it is synced.
    "storage_broken io": [10, 266, 1034],
    "storage_broken damaged": [11, 26, 267],
  };
  for (const [failure, codes] of Object.entries(said))
    for (const errcode of codes) assert.equal(told({ errcode }), failure, String(errcode));
  assert.equal(told({ errcode: 1 }), undefined, "a statement that is wrong");
});

test("what the system says to the file of the database becomes one, too [Q2][P4]", () => {
  const said = {
    storage_full: ["ENOSPC", "EDQUOT", "EFBIG"],
    storage_read_only: ["EACCES", "EPERM", "EROFS"],
    "storage_broken place": ["ENOTDIR", "EEXIST", "ELOOP", "ENAMETOOLONG"],
    "storage_broken io": ["EIO"],
  };
  for (const [failure, codes] of Object.entries(said))
    for (const code of codes) assert.equal(told({ code, syscall: "open" }), failure, code);
});
