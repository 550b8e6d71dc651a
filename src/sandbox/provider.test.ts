import assert from "node:assert/strict";
import { test } from "node:test";
import { playedProvider } from "../../test/world/played-provider.ts";
import { ok } from "../base/result.ts";
import { localOwner } from "../protocol/ids.ts";
import { checkProgram } from "./program-checks.ts";
import { executionLimits, fitsGuest } from "./provider.ts";

test("variables fit a program up to their limit as they are written, with names and values that a process can have [X2][X4]", () => {
  const long = (bytes: number) => ({ A: "x".repeat(bytes - '{"A":""}'.length) });
  assert.deepEqual([fitsGuest(long(32 * 1024)), fitsGuest(long(32 * 1024 + 1))], [true, false]);
  const odd = [{ "A=B": "" }, { "": "" }, { "A\0": "" }, { A: "a\0" }, { A: "\ud800" }, { "\ud800": "" }];
  assert.deepEqual(
    odd.map((env) => fitsGuest(env)),
    odd.map(() => false),
  );
  assert.equal(fitsGuest({ "a b.c": "=\n\u0001界" }), true);
});

test("code and a folder are taken up to their limits, and what is longer is refused [X1][X4]", async () => {
  const checked = async (code: string, folder: string) => {
    const place = { owner: localOwner, conversation: undefined, workspace: undefined, agent: "root" };
    const answer = await checkProgram(playedProvider(), place, { language: "bash", code, timeoutMs: 1, folder });
    return answer.ok ? answer : [answer.failure.code, "why" in answer.failure.params && answer.failure.params.why];
  };
  const { codeBytesMax, folderCharactersMax } = executionLimits;
  assert.deepEqual(await checked("é".repeat(codeBytesMax / 2), "a".repeat(folderCharactersMax)), ok(undefined));
  assert.deepEqual(await checked(`${"é".repeat(codeBytesMax / 2)}x`, ""), ["code_too_long", false]);
  assert.deepEqual(await checked("", "a".repeat(folderCharactersMax + 1)), ["path_invalid", "too_long"]);
  assert.deepEqual(await checked("", "a/../.."), ["path_traversal_blocked", false]);
});
