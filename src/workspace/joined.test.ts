import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { createGunzip, createGzip, createInflateRaw, deflateRawSync, gzipSync } from "node:zlib";
import { extract, pack } from "tar-stream";
import { joined } from "./joined.ts";
import { readArchive } from "./read-archive.ts";

const bytes = randomBytes(256 * 1024);
const pieceBytes = 16 * 1024;

/** Ends by a mistake of ours before the piece `mistakeAt`, and says when nobody reads it any more. */
function played(content: Uint8Array, mistakeAt = Number.POSITIVE_INFINITY) {
  const ended = { is: false };
  async function* pieces() {
    try {
      for (let at = 0; at < content.length; at += pieceBytes) {
        if (at / pieceBytes === mistakeAt) throw new RangeError("a mistake of ours");
        yield content.subarray(at, at + pieceBytes);
      }
    } finally {
      ended.is = true;
    }
  }
  return { pieces: pieces(), ended };
}

function archived(): Promise<Buffer> {
  const packed = pack();
  for (const name of ["one", "two"]) packed.entry({ name }, bytes);
  packed.finalize();
  return buffer(packed);
}

test("what goes into a stream comes out of it, and so does a mistake of ours, wherever it is made", async () => {
  assert.deepEqual(await buffer(joined(played(gzipSync(bytes)).pieces, createGunzip())), bytes);

  for (const mistakeAt of [0, 1, 5]) {
    for (const [content, through] of [
      [bytes, createGzip()],
      [gzipSync(bytes), createGunzip()],
      [deflateRawSync(bytes), createInflateRaw()],
    ] as const) {
      const { pieces, ended } = played(content, mistakeAt);
      await assert.rejects(buffer(joined(pieces, through)), new RangeError("a mistake of ours"));
      assert.ok(ended.is);
    }
    const { pieces } = played(gzipSync(await archived()), mistakeAt);
    const read = async () => {
      for await (const entry of joined(joined(pieces, createGunzip()), extract())) for await (const _ of entry);
    };
    await assert.rejects(read(), new RangeError("a mistake of ours"));
  }
});

test("whoever reads no further has nobody read on behind their back, and hears their own error", async () => {
  for (const isThrown of [false, true]) {
    const { pieces, ended } = played(gzipSync(bytes));
    const read = async () => {
      for await (const _ of joined(pieces, createGunzip()))
        if (isThrown) throw new RangeError("of the reader");
        else break;
    };
    if (isThrown) await assert.rejects(read(), new RangeError("of the reader"));
    else await read();
    assert.ok(ended.is);
  }
});

test("a mistake of ours while a backup is read is none of the backup's", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "joined-"));
  t.after(() => rm(folder, { recursive: true }));
  for (const content of [await archived(), gzipSync(await archived())]) {
    const path = join(folder, "backup");
    await writeFile(path, content);
    const mistake = () => {
      throw new RangeError("a mistake of ours");
    };
    await assert.rejects(readArchive(path, { take: async () => {} }, mistake), new RangeError("a mistake of ours"));
  }
});
