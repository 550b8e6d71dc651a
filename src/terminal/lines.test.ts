import assert from "node:assert/strict";
import { PassThrough, Readable } from "node:stream";
import { test } from "node:test";
import { manualClock } from "../../test/world/manual-clock.ts";
import { readAll, readIfReady, readLines } from "./lines.ts";

test("lines end at line feeds alone, wherever the bytes are cut", async () => {
  const bytes = Buffer.from("你好\r\nzwei\u2028drei\n\nlast");
  const whole = ["你好", "zwei\u2028drei", "", "last"];
  for (const size of [1, 2, 7, bytes.length]) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    );
    const lines: string[] = [];
    for await (const line of readLines(Readable.from(pieces))) lines.push(line);
    assert.deepEqual(lines, whole);
    assert.equal(await readAll(Readable.from(pieces)), bytes.toString());
  }
});

test("input that has come is read, also where its time was over before anybody could look; what stays silent is not waited for [P2]", async () => {
  const clock = manualClock();
  const late = new PassThrough();
  const reading = readIfReady(late, clock);
  clock.move(300);
  late.end("a text");
  assert.equal(await reading, "a text");

  const silent = new PassThrough();
  const waiting = readIfReady(silent, clock);
  clock.move(300);
  assert.equal(await waiting, undefined);
  assert.deepEqual([silent.destroyed, clock.timers()], [true, 0]);
});
