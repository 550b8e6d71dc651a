import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isStuck, newlyRepeated } from "./loop-guard.ts";

/** `A` is a call with its result; `A2` the same call with another result. One call a step. */
const finished = (names: string) =>
  names.split(" ").map((name) => ({ name: name.charAt(0), arguments: "{}", text: `result ${name}` }));

/** The places of the calls after which the model is told, from 1 on. */
function toldAt(names: string): number[] {
  const calls = finished(names);
  return calls.map((_, index) => index + 1).filter((count) => newlyRepeated(calls.slice(0, count), 1) !== undefined);
}

/** The place of the first call that would not be run. */
function stoppedAt(names: string): number | undefined {
  const calls = finished(names);
  const place = calls.findIndex((call, index) => isStuck(calls.slice(0, index), call));
  return place < 0 ? undefined : place + 1;
}

const cases: readonly [what: string, names: string, told: number[], stopped: number | undefined][] = [
  ["the same call again and again", "A A A A A A", [3], 5],
  ["two calls in turn", "A B A B A B A B A B", [6], 10],
  ["three calls in turn", "A B C A B C A B C A B C A B C", [9], 15],
  ["six calls in turn", Array(6).fill("A B C D E F").join(" "), [18], 30],
  ["seven calls in turn, which is too long a way", Array(8).fill("A B C D E F G").join(" "), [21], undefined],
  ["a new call in between", "A A B A A C A A D A A", [], undefined],
  ["another result in between", "A A A2 A A A3 A A", [], undefined],
  ["a result that changes each time", "A A2 A3 A4 A5 A6 A7", [], undefined],
  ["other calls each time", "A B C D E F G H I J", [], undefined],
  ["progress after the note", "A A A B A A A A A", [3, 7], 9],
  ["looking again after each change", "A B A C A D A E A F A G A", [], undefined],
];

for (const [what, names, told, stopped] of cases) {
  test(`going round in circles is told once and then stopped, progress never is: ${what} [R1]`, () => {
    assert.deepEqual({ told: toldAt(names), stopped: stoppedAt(names) }, { told, stopped });
  });
}

test("the same call several times in one answer is told as soon as it came three times [R1]", () => {
  const calls = finished("A A A A");
  assert.deepEqual(newlyRepeated(calls, 2), { name: "A", times: 4 });
  assert.deepEqual(newlyRepeated(finished("A A A"), 3), { name: "A", times: 3 });
  assert.equal(newlyRepeated([...calls, ...finished("A A")], 2), undefined);
});

test("other arguments are another call [R1]", () => {
  const calls = Array.from({ length: 9 }, (_, n) => ({ name: "A", arguments: `{"n":${n}}`, text: "same" }));
  assert.equal(isStuck(calls, { name: "A", arguments: '{"n":9}' }), false);
  assert.equal(newlyRepeated(calls, 1), undefined);
});

test("in any history, a call is only stopped when it came four times with one result, and never when each result is new [R1]", () => {
  const call = fc.record({
    name: fc.constantFrom("a", "b"),
    arguments: fc.constantFrom("{}", '{"x":1}'),
    text: fc.constantFrom("1", "2", "3"),
  });
  fc.assert(
    fc.property(fc.array(call, { maxLength: 40 }), call, (calls, next) => {
      const same = calls.filter((one) => one.name === next.name && one.arguments === next.arguments);
      const most = Math.max(0, ...["1", "2", "3"].map((text) => same.filter((one) => one.text === text).length));
      if (isStuck(calls, next)) assert.ok(most >= 4);
      const fresh = calls.map((one, index) => ({ ...one, text: String(index) }));
      assert.equal(isStuck(fresh, next), false);
    }),
  );
});
