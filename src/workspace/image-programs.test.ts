import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, statfsSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { mountsBelow, withImages } from "../../test/world/images.ts";
import { ok } from "../base/result.ts";
import { fillImage, hasProgram, type ImageShape, mountImage, runProgram, sizesOf } from "./image-programs.ts";

const mebibyte = 1024 ** 2;

/** What files can have on the disk that an image of this shape is. */
async function roomOf(t: TestContext, shape: ImageShape) {
  const base = mkdtempSync(join(tmpdir(), "shape-"));
  const [image, from, mounted] = [join(base, "image"), join(base, "from"), join(base, "mounted")];
  t.after(async () => {
    await runProgram("umount", ["-l", mounted]);
    rmSync(base, { recursive: true, force: true });
  });
  for (const folder of [from, mounted]) mkdirSync(folder);
  // As many as lie in that of a conversation from the beginning.
  for (const name of ["files", "staging", "1", "2", "3", "4", "5"]) mkdirSync(join(from, name));
  const sizes = sizesOf(shape);
  writeFileSync(image, "");
  truncateSync(image, sizes.bytes);
  assert.deepEqual(await fillImage(image, from, sizes), ok(undefined));
  assert.deepEqual(await mountImage(image, mounted), ok(undefined));
  assert.match(mountsBelow(base, "options").join(), /^rw,nosuid,nodev,/);
  const { bavail, bsize, ffree } = statfsSync(mounted);
  return { bytes: bavail * bsize, files: ffree };
}

test(
  "on a disk of its own a workspace has nearly all that it may have, of bytes and of files, and never more [X4][W11]",
  withImages(async (t) => {
    const shapes = [
      { bytesMax: 16 * mebibyte, filesMax: 200 },
      { bytesMax: 255 * mebibyte, filesMax: 20_000 },
      { bytesMax: 256 * mebibyte, filesMax: 20_000 },
      { bytesMax: 2048 * mebibyte, filesMax: 65_536 },
    ];
    for (const shape of shapes) {
      const { bytes, files } = await roomOf(t, shape);
      const [ofBytes, ofFiles] = [bytes / shape.bytesMax, files / shape.filesMax];
      assert.ok(ofBytes > 0.985 && ofBytes <= 1, `${ofBytes} of ${JSON.stringify(shape)}`);
      assert.ok(ofFiles > 0.94 && ofFiles <= 1, `${ofFiles} of ${JSON.stringify(shape)}`);
    }
    const least = await roomOf(t, { bytesMax: 0, filesMax: 0 });
    assert.ok(least.bytes > 3.5 * mebibyte && least.bytes <= 4 * mebibyte, `${least.bytes}`);
    assert.ok(least.files > 0, "it can be used at all");
  }),
);

test("a disk is never larger than a file can be, nor has it more files than its groups can have [X4]", () => {
  const { bytes, inodes, journalBytes } = sizesOf({ bytesMax: 2 ** 50, filesMax: 2 ** 20 });
  assert.ok(bytes < 9 * 1024 ** 4 && bytes > 8 * 1024 ** 4, `${bytes}`);
  assert.deepEqual([bytes % 4096, journalBytes, inodes < 2 ** 20], [0, 16 * mebibyte, true]);
  const crowded = sizesOf({ bytesMax: 4 * mebibyte, filesMax: 10 ** 7 });
  assert.equal(crowded.inodes % 32_768, 0, "32768 in each group");
  assert.ok(crowded.inodes <= 10 ** 7);
});

test("what a program of the system says is told from its beginning; one that says nothing, or is not there, by its name [X4][Q2]", async () => {
  assert.deepEqual(await runProgram("cp", ["--version"]), ok(undefined));
  const missing = await runProgram("cp", ["--", "/nowhere/at/all", "/nowhere"]);
  assert.equal(missing.ok || missing.failure, "cp: cannot stat '/nowhere/at/all': No such file or directory");
  const long = await runProgram("cp", ["--", `/${"x".repeat(200)}/${"y".repeat(200)}/${"z".repeat(200)}`, "/nowhere"]);
  assert.equal(long.ok || long.failure.length, 500);
  assert.deepEqual([hasProgram("cp"), hasProgram("mount")], [true, true]);
});
