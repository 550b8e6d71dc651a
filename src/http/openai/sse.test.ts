import assert from "node:assert/strict";
import { test } from "node:test";
import type { Piece } from "./pieces.ts";
import { dataStream } from "./sse.ts";

const end: Piece = {
  ...{ piece: "end", state: "done", finish: "stop", usage: { input: 1, output: 1 }, at: 1, open: [] },
  ...{ failure: undefined, retryAfterMs: undefined },
};

/** A stream of these batches; `rests` says whether what makes it was ended. */
function streamOf(batches: readonly Piece[][], { isEndless = false } = {}) {
  const closing = new AbortController();
  const thrown: unknown[] = [];
  const seen = { isEnded: false, hasLeft: false };
  async function* made(): AsyncGenerator<Piece[], void, undefined> {
    try {
      yield* batches;
      if (isEndless) await new Promise(() => {});
    } finally {
      seen.isEnded = true;
    }
  }
  const stream = dataStream({
    ...{ pieces: made(), first: [{ piece: "begin", at: 1 }], signal: closing.signal },
    write: (piece) => [{ piece: piece.piece }, { type: `told.${piece.piece}` }],
    lastWords: () => [{ last: "words" }],
    leave: () => {
      seen.hasLeft = true;
    },
    onThrown: (error) => thrown.push(error),
  });
  return { stream, closing, seen, thrown };
}

const told = (name: string) => `data: {"piece":"${name}"}\n\nevent: told.${name}\ndata: {"type":"told.${name}"}\n\n`;

test("an answer is told line by line with a sign of life between, and closed once [C5]", async () => {
  const { stream, seen, thrown } = streamOf([
    [{ piece: "text", part: 1, text: "x" }],
    [{ piece: "ping" }],
    [end],
    [end],
  ]);
  const text = await new Response(stream).text();
  assert.equal(text, `${told("begin")}${told("text")}: ping\n\n${told("end")}data: [DONE]\n\n`);
  assert.deepEqual([seen.isEnded, thrown], [true, []]);
});

test("an answer that breaks off ends with the reason, and then with the end that clients wait for [C5]", async () => {
  const { stream } = streamOf([[{ piece: "text", part: 1, text: "x" }]]);
  assert.equal(
    await new Response(stream).text(),
    `${told("begin")}${told("text")}data: {"last":"words"}\n\ndata: [DONE]\n\n`,
  );
});

test("a server that closes while a reader is slow says so to that reader, and makes nothing more [C5]", async () => {
  const { stream, closing, seen } = streamOf([[{ piece: "text", part: 1, text: "x" }], [end]]);
  const reader = stream.getReader();
  const next = async () => new TextDecoder().decode((await reader.read()).value);
  assert.deepEqual([await next(), await next()], [told("begin"), told("text")]);
  closing.abort();
  assert.equal(await next(), 'data: {"last":"words"}\n\ndata: [DONE]\n\n');
  assert.deepEqual([(await reader.read()).done, seen.isEnded], [true, true]);
});

test("a reader who leaves ends what makes the answer, and is known to have left [C5]", async () => {
  const { stream, seen } = streamOf([[{ piece: "text", part: 1, text: "x" }], [end]]);
  const reader = stream.getReader();
  await reader.read();
  await reader.read();
  await reader.cancel();
  for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(seen, { isEnded: true, hasLeft: true });
});
