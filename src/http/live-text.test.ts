import assert from "node:assert/strict";
import { test } from "node:test";
import type { LiveFrame } from "../loop/loop.ts";
import { gatherLiveText } from "./live-text.ts";

const attempt = { turn: 1, step: 1, attempt: 1 };

function delta(text: string, of: { readonly agent?: string; readonly offset?: number; readonly step?: number } = {}) {
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
