import assert from "node:assert/strict";
import { test } from "node:test";
import { executionLimits } from "../provider.ts";
import { assertWithinLimits } from "./execution-limits.ts";
import { execution } from "./played-supervisor.testing.ts";

test("code, an event, input and a folder may be as long as their limits; one byte more is a mistake of ours [X1][X4]", () => {
  const { codeBytesMax, eventBytesMax, stdinBytesMax, folderCharactersMax } = executionLimits;
  for (const [long, tooLong] of [
    [{ code: "é".repeat(codeBytesMax / 2) }, { code: `${"é".repeat(codeBytesMax / 2)}x` }],
    [{ event: "é".repeat(eventBytesMax / 2) }, { event: `${"é".repeat(eventBytesMax / 2)}x` }],
    [{ stdin: new Uint8Array(stdinBytesMax) }, { stdin: new Uint8Array(stdinBytesMax + 1) }],
    [{ folder: "x".repeat(folderCharactersMax) }, { folder: "x".repeat(folderCharactersMax + 1) }],
  ]) {
    assertWithinLimits(execution(long ?? {}));
    assert.throws(() => assertWithinLimits(execution(tooLong ?? {})), /within its limit/);
  }
});
