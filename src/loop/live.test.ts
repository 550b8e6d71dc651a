import assert from "node:assert/strict";
import { test } from "node:test";
import { openLive } from "./live.ts";
import type { LiveFrame } from "./loop.ts";

const saidCharactersMax = 4_000;

test("what a running program says has its place in all it said, however little of it is kept for those who come later", () => {
  const live = openLive();
  const heard: LiveFrame[] = [];
  live.listen(1, (frame) => heard.push(frame));
  for (const text of ["a".repeat(saidCharactersMax), "bc", "d"]) live.say({ number: 1 }, "call", text);
  const offsets = heard.map((frame) => frame.frame === "output" && frame.offset);
  assert.deepEqual(offsets, [0, saidCharactersMax, saidCharactersMax + 2]);
  const later: LiveFrame[] = [];
  live.listen(1, (frame) => later.push(frame));
  const [kept] = later;
  assert.ok(kept?.frame === "output");
  assert.deepEqual([kept.offset, kept.text.length, kept.text.slice(-4)], [3, saidCharactersMax, "abcd"]);
});
