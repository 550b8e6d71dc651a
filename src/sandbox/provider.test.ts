import assert from "node:assert/strict";
import { test } from "node:test";
import { playedProvider } from "../../test/world/played-provider.ts";
import { ok } from "../base/result.ts";
import { localOwner } from "../protocol/ids.ts";
import { checkProgram, roomRefusal } from "./program-checks.ts";
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
  assert.deepEqual(await checked("", "/etc"), ["path_traversal_blocked", false]);
  assert.deepEqual(await checked("", "a\nb"), ["path_invalid", "control_character"]);
  assert.deepEqual(await checked("", "a..b/..c/..."), ok(undefined));
});

test("a workspace that is over its limit takes a program that makes room, one far over it none, nor does a full disk [X4]", () => {
  const measured = {
    ...{ bytes: 0, files: 0, folders: 0, freeBytes: 0, bytesMax: 100, filesMax: 10, over: undefined, isFarOver: false },
  };
  const refused = (over: "bytes" | "files" | "disk" | undefined, isFarOver: boolean) =>
    roomRefusal({ ...measured, over, isFarOver })?.failure;
  assert.deepEqual(
    [refused(undefined, true), refused("bytes", false), refused("files", false)],
    [undefined, undefined, undefined],
  );
  const told = [refused("bytes", true), refused("files", true), refused("disk", false)];
  assert.deepEqual(
    told.map((failure) => [failure?.code, failure?.params]),
    [
      ["quota_exceeded", { path: ".", what: "bytes", limit: 100, setting: "workspace.bytes_max" }],
      ["quota_exceeded", { path: ".", what: "files", limit: 10, setting: "workspace.files_max" }],
      ["write_failed", { path: ".", why: "full" }],
    ],
  );
});
