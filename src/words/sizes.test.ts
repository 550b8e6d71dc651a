import assert from "node:assert/strict";
import { test } from "node:test";
import { sizeText } from "./sizes.ts";

test("sizes are written as people read them, in steps of 1024 [P4]", () => {
  const [kb, mb, gb] = [1024, 1024 ** 2, 1024 ** 3];
  const sizes = [0, 1023, kb, 1536, mb - 1, mb, 6_600_000, 100 * mb, 2 * gb, 5 * 1024 * gb * 1024];
  assert.deepEqual(
    sizes.map((bytes) => sizeText(bytes, ({ count }) => `${count} bytes`)),
    ["0 bytes", "1023 bytes", "1 KB", "1.5 KB", "1.0 MB", "1 MB", "6.3 MB", "100 MB", "2 GB", "5120 TB"],
  );
});
