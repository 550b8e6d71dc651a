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
    write: (piece: string, kind: "text" | "reasoning" = "text") => live.add({ number: 1 }, kind, piece),
    /** Another agent, or a program of the main one, at the same place of a turn of its own. */
    writeBeside(piece: string) {
      live.begin({ number: 1, agent: "helper-1" }, attempt);
      live.add({ number: 1, agent: "helper-1" }, "text", piece);
      live.say({ number: 1 }, "c1", piece);
    },
    beginAgain: (place: typeof attempt) => live.begin({ number: 1 }, place),
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

test("what a helper writes at the same time, and what a program says, is no part of the answer [A2][C3]", () => {
  const engine = writing();
  const part = openLivePart(engine, 1, () => undefined);
  part.take(attempt);
  engine.write("of the ");
  engine.writeBeside("of the helper");
  engine.write("main agent");
  assert.deepEqual(
    part.take(attempt).map(({ offset, text }) => `${offset}:${text}`),
    ["0:of the main agent"],
  );
  part.stop();
});

test("an answer that is tried again begins anew for its reader, words and thoughts apart [M3][C3]", () => {
  const engine = writing();
  const part = openLivePart(engine, 1, () => undefined);
  part.take(attempt);
  engine.write("hm", "reasoning");
  engine.write("It was");
  const second = { ...attempt, attempt: 2 };
  const taken = (place: typeof attempt) =>
    part.take(place).map(({ kind, offset, text }) => `${kind} ${offset}:${text}`);
  assert.deepEqual(taken(attempt), ["reasoning 0:hm", "text 0:It was"]);
  engine.write(" not taken");
  engine.beginAgain(second);
  engine.write("It is");
  assert.deepEqual(taken(attempt), [], "the log has not told of it yet");
  assert.deepEqual(taken(second), ["text 0:It is"]);
  engine.write(" so", "reasoning");
  engine.write(" 42");
  assert.deepEqual(taken(second), ["reasoning 0: so", "text 5: 42"]);
  part.stop();
});

test("a reader who keeps up hears on, however long the answer is and was when they came [C3][Q2]", () => {
  const engine = writing();
  let listens = 0;
  const counting: Pick<typeof engine, "live"> = {
    live(...heard) {
      listens += 1;
      return engine.live(...heard);
    },
  };
  const part = openLivePart(counting, 1, () => undefined);
  engine.write("x".repeat(heldCharactersMax + 1));
  assert.deepEqual(part.take(undefined), [], "the reader has not heard of this answer yet");
  engine.write("y");
  let length = 0;
  const take = () => {
    for (const { text } of part.take(attempt)) length += text.length;
  };
  take();
  for (let times = 0; times < 3; times += 1) {
    engine.write("y".repeat(heldCharactersMax - 1));
    take();
  }
  assert.deepEqual([listens, length], [1, 4 * heldCharactersMax - 1]);
  part.stop();
});

test("what a reader has and hears again is nothing new [C3]", () => {
  let hear: Parameters<ReturnType<typeof writing>["live"]>[1] = () => {};
  const live = (_: number, heard: typeof hear) => {
    hear = heard;
    return () => {};
  };
  const part = openLivePart({ live }, 1, () => undefined);
  const say = (text: string, offset = 0) => {
    hear({ frame: "delta", ...attempt, kind: "text", offset, text });
    return part.take(attempt).map((piece) => [piece.offset, piece.text]);
  };
  part.take(attempt);
  assert.deepEqual([say("abc"), say("abc"), say("ab"), say("abcd")], [[[0, "abc"]], [], [], [[3, "d"]]]);
});
