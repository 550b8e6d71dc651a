import assert from "node:assert/strict";
import { test } from "node:test";
import { isWholeImage } from "./image.ts";

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const gif = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
const webp = Buffer.from("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA", "base64");
const jpeg = Buffer.concat([
  Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0]),
  Buffer.from([0xff, 0xc0, 0, 11, 8, 0, 1, 0, 1, 1, 1, 0x11, 0, 0xff, 0xd9]),
]);

test("a picture is told from a file that only begins like one [F3]", () => {
  const whole = { "image/png": png, "image/gif": gif, "image/webp": webp, "image/jpeg": jpeg } as const;
  assert.ok(isWholeImage(png, "image/png"));
  assert.ok(isWholeImage(gif, "image/gif"));
  assert.ok(isWholeImage(webp, "image/webp"));
  assert.ok(isWholeImage(jpeg, "image/jpeg"));
  for (const [mime, bytes] of Object.entries(whole))
    for (const kept of [0, 2, 8, 14]) {
      const known = mime === "image/png" || mime === "image/gif" || mime === "image/webp" ? mime : "image/jpeg";
      assert.equal(isWholeImage(bytes.subarray(0, kept), known), false, `${mime}, ${kept} bytes`);
    }
});
