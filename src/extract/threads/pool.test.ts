import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { quietLogger } from "../../../test/world/workspace.ts";
import { fileBytesMax, pdfiumBytesMax, pdfiumOverstep } from "../limits.ts";
import { openPool, threadsFor } from "./pool.ts";
import { threadOptions } from "./thread.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const mebibyte = 1024 ** 2;
const gibibyte = 1024 ** 3;

/** What a container of the server has, as the file says it. */
function limitIn(path: string, pattern: RegExp): number {
  const found = pattern.exec(readFileSync(join(root, path), "utf8"));
  assert.ok(found !== null, path);
  return Number(found[1]) * gibibyte;
}

test("a server has room for the largest documents that are read at once, in the containers that come along [N1][D1]", () => {
  /** What a server takes that works, and the thread of the index at its limit. */
  const rest = (512 + 1024) * mebibyte;
  const heap = threadOptions.resourceLimits.maxOldGenerationSizeMb * mebibyte;
  // The file, and the copy of it that PDFium has or an archive is unpacked to.
  const document = pdfiumBytesMax * pdfiumOverstep + heap + 2 * fileBytesMax;
  const limits = [
    limitIn("compose.yaml", /x-server: &server\n.*?\n {2}mem_limit: (\d+)g\n/s),
    limitIn("deploy/kubernetes/server.yaml", /limits: \{ cpu: "2", memory: (\d+)Gi \}/),
  ];
  for (const limit of limits) assert.ok(rest + threadsFor(limit) * document <= limit, `${limit} bytes`);
  assert.deepEqual([threadsFor(2 * gibibyte), threadsFor(4 * gibibyte)], [1, 2]);
});

test("a document that comes just before an idle thread would end is read to its end; the thread ends when none came for a while [D1]", async () => {
  const clock = manualClock();
  const pool = openPool({ clock, logger: quietLogger([]) }, 1);
  const { signal } = new AbortController();
  const read = (onProgress = () => {}) => {
    const bytes = new Uint8Array(Buffer.from("hello"));
    return pool.run({ name: "a.txt", sizeBytes: bytes.length, bytes }, { timeMs: 60_000, signal, onProgress });
  };
  assert.equal((await read()).kind, "read");
  assert.equal(clock.timers(), 1, "the thread waits for another document");
  clock.move(29_999);
  const second = read();
  // The thread has its work by now, and is given no time for it.
  await Promise.resolve();
  clock.move(1);
  assert.equal((await second).kind, "read");
  clock.move(29_999);
  assert.equal(clock.timers(), 1, "its rest has begun anew");
  clock.move(1);
  assert.equal(clock.timers(), 0);
  await pool.close();
});
