// Runs alone: it measures the memory of its process.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { NewEvent } from "../../src/protocol/events.ts";
import type { ConversationRow } from "../../src/storage/storage.ts";
import { until } from "../world/events.ts";
import { answered, delta, onPort, stepStarted, streamPath } from "../world/http-reading.ts";
import { startSlowReaders } from "../world/slow-readers.ts";
import { type WritingYard, writingYard } from "../world/writing-yard.ts";

const readers = 12;
/** What a reader that hardly reads may cost: a page of the log, here 64 records of 8 KB each, and its connection. */
const readerBytesMax = 1024 * 1024;

setFlagsFromString("--expose-gc");
const tidyUp: () => void = runInNewContext("gc");

test("readers that take a byte a second, in the log or in an answer, cost little, and nobody waits for them [C3][Q2]", async (t) => {
  await using yard = await writingYard();
  const row = await yard.start("c");
  const long: NewEvent = { type: "conversation.renamed", title: "t".repeat(8_000) };
  await yard.append(row, ...Array.from({ length: 1_000 }, () => long));
  await using server = await onPort(yard);
  let head = 1_000;
  const talkOnce = async () => {
    const words = await talk(yard, row, server.url + streamPath(`?after=${head}`));
    head += 2;
    return words;
  };
  await talkOnce();
  // Those who begin at the beginning are stuck in the log, those who begin at its end in the answer.
  for (const place of ["log", "answer"]) {
    const before = used();
    const slow = await startSlowReaders(readers, server.url + streamPath(place === "log" ? "" : `?after=${head}`));
    t.after(slow.close);
    await until("all listen", () => yard.listeners() >= readers);
    const words = await talkOnce();
    assert.ok(words > 0, "somebody quick reads along");
    // What is on its way to the kernel, or was just compiled, is let go of in a moment.
    const limit = `each slow reader of the ${place} costs at most ${readerBytesMax} bytes`;
    await until(limit, () => (used() - before) / readers <= readerBytesMax);
    slow.leave();
    await until("all are forgotten", () => yard.listeners() === 0);
  }
});

/** A long answer, which somebody reads to its end as it is said; answers how many words came. */
async function talk(yard: WritingYard, row: ConversationRow, url: string): Promise<number> {
  const reader = (await fetch(url)).body?.getReader();
  let words = 0;
  const reading = (async () => {
    const decoder = new TextDecoder();
    for (let text = ""; !text.includes("the end"); words += text.split("word").length - 1)
      text = decoder.decode((await reader?.read())?.value, { stream: true });
  })();
  await yard.append(row, stepStarted(1));
  for (let n = 0; n < piecesSaid; n += 1) {
    yard.say(row, delta(1, n * piece.length, piece));
    if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  yard.endAnswer(row);
  await yard.append(row, answered(1, "the end"));
  await reading;
  await reader?.cancel();
  return words;
}

const piecesSaid = 1_500;
const piece = "word ".repeat(800);

function used(): number {
  tidyUp();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
