import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../base/clock.ts";
import { openRate } from "./rate.ts";

test("who called too often is taken again when the minute is over, and not before [C6]", () => {
  let now = 0;
  const rate = openRate({ ...systemClock, monotonic: () => now });
  const call = (who: string) => {
    const { headers, refusal } = rate.count(who, 2);
    return [headers["ratelimit-remaining"], headers["ratelimit-reset"], refusal?.params.retryAfterSeconds];
  };
  assert.deepEqual(
    [call("ann"), call("ann")],
    [
      ["1", "60", undefined],
      ["0", "60", undefined],
    ],
  );
  now = 30_500;
  assert.deepEqual(
    [call("ann"), call("bob")],
    [
      ["0", "30", 30],
      ["1", "60", undefined],
    ],
  );
  now = 59_999;
  assert.deepEqual(call("ann"), ["0", "1", 1]);
  now = 60_000;
  assert.deepEqual(
    [call("ann"), call("bob")],
    [
      ["1", "60", undefined],
      ["0", "31", undefined],
    ],
  );
});

test("a call that is given back does not count, and a name of any length is one caller [C6]", () => {
  const rate = openRate({ ...systemClock, monotonic: () => 0 });
  const long = "a".repeat(100_000);
  for (let n = 0; n < 5; n += 1) {
    const call = {};
    assert.equal(rate.count(long, 1, call).refusal, undefined);
    rate.giveBack(call);
  }
  rate.count(long, 1);
  assert.equal(rate.count(long, 1).refusal?.code, "rate_limited");
  assert.equal(rate.count(`${long}a`, 1).refusal, undefined);
});

test("what is given back once its minute is over makes no room in the next one [C6]", () => {
  let now = 0;
  const rate = openRate({ ...systemClock, monotonic: () => now });
  const left = (call?: object) => rate.count("ann", 3, call).headers["ratelimit-remaining"];
  const [slow, both] = [{}, {}];
  assert.deepEqual([left(slow), left(both)], ["2", "1"]);
  now = 60_000;
  assert.deepEqual([left(both), left()], ["2", "1"]);
  rate.giveBack(slow);
  assert.equal(left(), "0");
  rate.giveBack(both);
  rate.giveBack(both);
  assert.equal(left(), "0", "of what was counted in either minute, what is of this one, and once");
});
