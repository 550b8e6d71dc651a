import assert from "node:assert/strict";
import { test } from "node:test";
import { openLive } from "../../loop/loop.ts";
import { openLivePart } from "./live-part.ts";

const heldCharactersMax = 256 * 1024;
const attempt = { turn: 1, step: 1, attempt: 1 };

/** An answer that the test writes, and how many hear of it. */
function writing() {
  const live = openLive();
  let readers = 0;
  live.begin({ number: 1 }, attempt);
  return {
    live(...heard: Parameters<typeof live.listen>) {
      const stop = live.listen(...heard);
      readers += 1;
      return () => {
        readers -= 1;
        stop();
      };
    },
    write: (piece: string) => live.add({ number: 1 }, "text", piece),
    readers: () => readers,
  };
}

for (const { name, more, readers } of [
  { name: "at the limit of what is held for it", more: "", readers: 1 },
  { name: "one character beyond it, when nothing is held any more", more: "x", readers: 0 },
])
  test(`a reader who is busy gets the rest of the answer once and in order, ${name}`, () => {
    const engine = writing();
    const part = openLivePart(engine, 1, () => undefined);
    engine.write("before ");
    const got = part.take(attempt).map(({ text }) => text);
    for (let at = 0; at < heldCharactersMax; at += 1024) engine.write(`${at} `.padEnd(1024, "."));
    engine.write(more);
    assert.equal(engine.readers(), readers);
    got.push(...part.take(attempt).map(({ text }) => text));
    engine.write(" after");
    got.push(...part.take(attempt).map(({ text }) => text));
    const parts = Array.from({ length: heldCharactersMax / 1024 }, (_, index) => `${index * 1024} `.padEnd(1024, "."));
    assert.equal(got.join(""), `before ${parts.join("")}${more} after`);
    part.stop();
    assert.equal(engine.readers(), 0);
  });
