import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/world/manual-clock.ts";
import { newProgress, place } from "./scan.ts";
import { watchOver } from "./watch-over.ts";

test("a pattern that makes no progress for half a second is given up [D3]", () => {
  const { look, progress, endings } = watched();
  Atomics.store(progress, place.isMatching, 1);
  look(4);
  assert.equal(endings(), 0);
  look(1);
  assert.equal(endings(), 1);
});

test("a pattern that gets on is left alone, however slowly [D3]", () => {
  const { look, progress, endings } = watched();
  Atomics.store(progress, place.isMatching, 1);
  for (let piece = 0; piece < 1_000; piece += 1) {
    look(4);
    Atomics.add(progress, place.beats, 1);
    look(1);
  }
  assert.equal(endings(), 0);
});

test("a search for words on a busy machine is given up only after a minute without any progress [D3]", () => {
  const { look, progress, endings, timers } = watched();
  look(599);
  Atomics.add(progress, place.beats, 1);
  look(600);
  assert.equal(endings(), 0);
  look(1);
  assert.equal(endings(), 1);
  look(1_000);
  assert.deepEqual([endings(), timers()], [1, 0]);
});

test("nothing is watched any more when a search is through [D3]", () => {
  const { look, stop, endings, timers } = watched();
  look(10);
  stop();
  look(1_000);
  assert.deepEqual([endings(), timers()], [0, 0]);
});

function watched() {
  const [clock, progress] = [manualClock(), newProgress()];
  let endings = 0;
  const stop = watchOver(progress, clock, () => {
    endings += 1;
  });
  const look = (times: number) => {
    for (let time = 0; time < times; time += 1) clock.move(100);
  };
  return { look, stop, progress, endings: () => endings, timers: clock.timers };
}
