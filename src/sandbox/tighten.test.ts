import assert from "node:assert/strict";
import { test } from "node:test";
import { tightenLimits, tightenUploads } from "./tighten.ts";

const limits = { memoryBytes: 100, processesMax: 10, cpus: 2, fileBytesMax: 50, tmpBytesMax: 20, outputBytesMax: 30 };
const uploads = { fileBytesMax: 100, filesMax: 5, types: ["csv", "jpg", "text"] };

test("a session's own limits count where they are smaller, and nowhere else [S1][X4]", () => {
  assert.deepEqual(tightenLimits(limits, {}), limits);
  assert.deepEqual(tightenLimits(limits, { memoryBytes: 1000, cpus: 1, outputBytesMax: 1 }), {
    ...limits,
    cpus: 1,
    outputBytesMax: 1,
  });
  const least = { memoryBytes: 6, processesMax: 5, cpus: 1, fileBytesMax: 4, tmpBytesMax: 3, outputBytesMax: 2 };
  assert.deepEqual([tightenLimits(limits, least), tightenLimits(least, limits)], [least, least]);
});

test("a session's own upload policy lets in less, never more, however types are spelled [S1][F4]", () => {
  assert.deepEqual(tightenUploads(uploads, {}), uploads);
  assert.deepEqual(tightenUploads(uploads, { fileBytesMax: 1000, filesMax: 2, types: [".CSV", "jpeg", "exe"] }), {
    ...{ fileBytesMax: 100, filesMax: 2, types: ["csv", "jpg"] },
  });
});
