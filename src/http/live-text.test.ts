import assert from "node:assert/strict";
import { test } from "node:test";
import type { LiveFrame } from "../loop/loop.ts";
import { gatherLiveText } from "./live-text.ts";

const attempt = { turn: 1, step: 1, attempt: 1 };

type Of = {
  readonly agent?: string;
  readonly offset?: number;
  readonly step?: number;
  readonly kind?: "text" | "reasoning";
};

function delta(text: string, of: Of = {}) {
  return { ...{ frame: "delta", ...attempt, kind: "text", offset: 0, text }, ...of } satisfies LiveFrame;
}

test("text of a helper waits until its reader hears of its step, and no longer than the helper works [C3][A2]", () => {
  const text = gatherLiveText();
  const open = (agent?: string) => (agent === undefined ? undefined : attempt);
  text.startCounting();
  for (const agent of ["a", "b"]) text.add(delta(`of ${agent}`, { agent }));
  assert.deepEqual(
    text.take(() => undefined),
    [],
  );
  text.pass({ type: "agent.ended", seq: 1, at: 1, id: "a", outcome: "done" });
  assert.deepEqual(text.take(open), [delta("of b", { agent: "b" })]);
});

test("what a slow reader missed of a helper stays too much when the main agent begins anew: no text has a gap [C3][A2]", () => {
  const text = gatherLiveText();
  const long = "x".repeat(200 * 1024);
  text.startCounting();
  text.add(delta(long));
  for (const n of [0, 1]) text.add(delta(long, { agent: "a", offset: n * long.length }));
  assert.ok(text.isTooMuch());
  text.add(delta("anew", { step: 2 }));
  assert.ok(text.isTooMuch());
});

test("of a program that says more than waits for a slow reader the end comes, and where in all it said that stands [C3]", () => {
  const text = gatherLiveText();
  const call = "call 1";
  let offset = 0;
  for (const said of ["a".repeat(10_000), "b".repeat(10_000), "c".repeat(100), "end"]) {
    text.add({ frame: "output", call, offset, text: said });
    offset += said.length;
  }
  const [frame, ...others] = text.take(() => undefined);
  assert.ok(frame?.frame === "output" && others.length === 0);
  assert.deepEqual([frame.offset, frame.text.length], [offset - 16_000, 16_000]);
  assert.match(frame.text, /^a+b{10000}c{100}end$/);
});

test("what gathered is taken once, in one piece where it goes on, and words are not mixed with thoughts [C3][A2]", () => {
  for (const agent of [undefined, "a"]) {
    const own = agent === undefined ? {} : { agent };
    const text = gatherLiveText();
    const open = (of?: string) => (of === agent ? attempt : undefined);
    text.add(delta("on", own));
    text.add(delta("e", { ...own, offset: 2 }));
    text.add(delta("hm", { ...own, offset: 3, kind: "reasoning" }));
    text.add(delta("lost before", { ...own, offset: 9, kind: "reasoning" }));
    assert.deepEqual(text.take(open), [
      delta("one", own),
      delta("hm", { ...own, offset: 3, kind: "reasoning" }),
      delta("lost before", { ...own, offset: 9, kind: "reasoning" }),
    ]);
    assert.deepEqual(text.take(open), []);
    text.add(delta("of the first", own));
    text.add(delta("of the second", { ...own, step: 2 }));
    assert.deepEqual(text.take(open), [], "that step is over");
    assert.deepEqual(
      text.take((of) => (of === agent ? { ...attempt, step: 2 } : undefined)),
      [delta("of the second", { ...own, step: 2 })],
    );
  }
  const said = gatherLiveText();
  const call = "call 1";
  said.add({ frame: "output", call, offset: 0, text: "begin" });
  said.add({ frame: "output", call, offset: 9, text: "on" });
  const taken = () => said.take(() => undefined);
  assert.deepEqual([taken(), taken()], [[{ frame: "output", call, offset: 9, text: "on" }], []]);
});

test("too much is what gathered since a reader is counted and last took something, the main agent's and the helpers' apart [C3][A2]", () => {
  const most = 256 * 1024;
  for (const agent of [undefined, "a"]) {
    const own = agent === undefined ? {} : { agent };
    const text = gatherLiveText();
    const open = () => attempt;
    text.add(delta("x".repeat(2 * most), own));
    assert.equal(text.isTooMuch(), false, "the answer so far came at once");
    text.startCounting();
    assert.equal(text.isTooMuch(), false);
    let offset = 2 * most;
    const say = (length: number) => {
      text.add(delta("y".repeat(length), { ...own, offset }));
      offset += length;
      return text.isTooMuch();
    };
    assert.deepEqual([say(most), text.take(open).length, say(most), say(1)], [false, 1, false, true]);
    say(7);
    const [held] = text.take(open);
    assert.equal(held?.text.length, most + 1, "nothing is held beyond that");
    assert.equal(text.isTooMuch(), false);
  }
  const anew = gatherLiveText();
  anew.startCounting();
  anew.add(delta("x".repeat(most + 1)));
  anew.add(delta("anew", { step: 2 }));
  assert.deepEqual(
    [anew.isTooMuch(), anew.take(() => ({ ...attempt, step: 2 }))],
    [false, [delta("anew", { step: 2 })]],
  );
});
