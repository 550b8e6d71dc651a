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

test("who comes later hears the running answers from their beginning, thoughts first, and what each program said; nothing of what has ended", () => {
  const live = openLive();
  const [root, helper] = [{ number: 1 }, { number: 1, agent: "a" }];
  const place = { turn: 2, step: 3, attempt: 1 };
  const heardNow = () => {
    const heard: LiveFrame[] = [];
    live.listen(1, (frame) => heard.push(frame))();
    return heard;
  };
  live.begin(root, place);
  live.begin(helper, place);
  live.add(root, "text", "He");
  live.add(root, "text", "llo");
  live.add(root, "reasoning", "hm");
  live.add(helper, "text", "Hi");
  live.say(root, "c", "mine");
  live.say(helper, "c", "its");
  const of = { frame: "delta", ...place, offset: 0 };
  const ofHelper = [
    { ...of, agent: "a", kind: "text", text: "Hi" },
    { frame: "output", agent: "a", call: "c", offset: 0, text: "its" },
  ];
  assert.deepEqual(heardNow(), [
    { ...of, kind: "reasoning", text: "hm" },
    { ...of, kind: "text", text: "Hello" },
    ofHelper[0],
    { frame: "output", call: "c", offset: 0, text: "mine" },
    ofHelper[1],
  ]);
  live.end(root);
  live.endSaying(root, "c");
  assert.deepEqual(heardNow(), ofHelper);
  live.end(helper);
  live.endSaying(helper, "c");
  live.add(helper, "text", "too late");
  assert.deepEqual(heardNow(), []);
});
