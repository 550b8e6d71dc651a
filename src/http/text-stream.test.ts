import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { eventStream } from "./stream.ts";
import { textStream } from "./text-stream.ts";

/** What makes a stream, and notes how it came to its end. */
function maker(pieces: readonly string[]) {
  const made: string[] = [];
  let ended = false;
  let signal: AbortSignal | undefined;
  async function* open(given: AbortSignal) {
    signal = given;
    try {
      for (const piece of pieces) {
        made.push(piece);
        yield piece;
      }
    } finally {
      ended = true;
    }
  }
  return { open, made, ended: () => ended, isOver: () => signal?.aborted };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

test("a stream is made as it is read, and nothing of it is left when it is over or its reader is gone [C3][Q2]", async () => {
  const [gone, thrown] = [new AbortController(), [] as unknown[]];
  const options = { signal: gone.signal, onThrown: (error: unknown) => void thrown.push(error) };
  const read = maker(["a", "世"]);
  const whole = textStream(read.open, options);
  await soon();
  assert.deepEqual(read.made, [], "nothing before it is asked for");
  assert.equal(await new Response(whole).text(), "a世");
  assert.equal(read.isOver(), true, "whoever counts streams hears that this one is over");
  const left = maker(["a", "b"]);
  const reader = textStream(left.open, options).getReader();
  await reader.read();
  await reader.cancel();
  await soon();
  assert.deepEqual([left.made, left.ended()], [["a"], true], "its reader has left");
  const rests = maker(["a", "b"]);
  const slow = textStream(rests.open, options).getReader();
  await slow.read();
  gone.abort();
  await soon();
  assert.deepEqual([rests.made, rests.ended()], [["a"], true], "while its slow reader rests");
  assert.equal((await slow.read()).done, true);
  assert.deepEqual([thrown, getEventListeners(gone.signal, "abort").length], [[], 0]);
});

test("a mistake in making a stream ends it for its reader, and is told to whoever keeps the log [C3][Q1]", async () => {
  const thrown: unknown[] = [];
  const options = { signal: new AbortController().signal, onThrown: (error: unknown) => void thrown.push(error) };
  const mistake = new Error("ours");
  const broken = textStream(async function* () {
    yield "a";
    throw mistake;
  }, options);
  assert.equal(await new Response(broken).text(), "a");
  assert.deepEqual(thrown, [mistake]);
  const later = textStream(async function* () {
    try {
      yield "a";
    } finally {
      // biome-ignore lint/correctness/noUnsafeFinally: a mistake in ending is what this is about.
      throw mistake;
    }
  }, options);
  const reader = later.getReader();
  await reader.read();
  await reader.cancel();
  await soon();
  assert.deepEqual(thrown, [mistake, mistake], "also where it is a mistake in ending");
});

type Frame = { readonly frame: string; readonly id?: string; readonly text: string };

async function chunks(batches: readonly (readonly Frame[])[]): Promise<string[]> {
  const stream = eventStream<Frame>(
    async function* () {
      for (const batch of batches) yield [...batch];
    },
    {
      idOf: ({ id }) => id,
      dataOf: ({ text }) => ({ text }),
      signal: new AbortController().signal,
      onThrown: (error) => assert.fail(String(error)),
    },
  );
  const all: string[] = [];
  for await (const chunk of stream) all.push(Buffer.from(chunk).toString());
  return all;
}

test("events go out batch by batch with the hint when to come back before the first, and a large batch in several pieces [C3]", async () => {
  const frame = (text: string, id?: string): Frame => ({ frame: "said", text, ...(id !== undefined && { id }) });
  const event = (text: string, id?: string) =>
    `event: said\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify({ text })}\n\n`;
  const hint = "retry: 1000\n";
  assert.deepEqual(await chunks([[], [frame("a", "1"), frame("b")], [], [frame("c", "2")]]), [
    hint + event("a", "1") + event("b"),
    event("c", "2"),
  ]);
  const half = "x".repeat(8_192);
  assert.deepEqual(await chunks([[frame(half), frame(half), frame("end")]]), [
    hint + event(half) + event(half),
    event("end"),
  ]);
});

test("an event that is too long for one goes out in parts, of which the last alone is a place to go on from [C3]", async () => {
  const sent = async (text: string, id?: string) => {
    const [first = "", ...more] = await chunks([[{ frame: "said", text, ...(id !== undefined && { id }) }]]);
    return [first.replace("retry: 1000\n", ""), ...more].join("").split("\n\n").slice(0, -1);
  };
  const room = 64 * 1024 - 'event: said\nid: 7\ndata: {"text":""}\n\n'.length;
  assert.equal((await sent("x".repeat(room), "7")).length, 1, "as long as may be");
  const parts = (await sent("x".repeat(room + 1), "7")).map((event) => {
    const [name, ...lines] = event.split("\n");
    const { text, ...part } = JSON.parse(lines.at(-1)?.slice("data: ".length) ?? "");
    return { name, id: lines.length === 2 ? lines[0] : undefined, text, part };
  });
  const of = { frame: "part", of: "7", count: 4 };
  assert.deepEqual(
    parts.map(({ text: _, ...told }) => told),
    [0, 1, 2, 3].map((index) => ({
      ...{ name: "event: part", id: index === 3 ? "id: 7" : undefined, part: { ...of, index } },
    })),
  );
  assert.equal(parts.map(({ text }) => text).join(""), JSON.stringify({ text: "x".repeat(room + 1) }));
  const wide = await sent("世".repeat(30_000));
  assert.ok(wide.every((event) => Buffer.byteLength(event) <= 64 * 1024));
  assert.match(wide[0] ?? "", /"of":"said"/);
});
