import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/world/manual-clock.ts";
import { openRate } from "./rate.ts";
import { defaultServerSettings } from "./settings.ts";
import { openTries } from "./tries.ts";

function tries(signInsPerMinuteMax: number) {
  return openTries(openRate(manualClock()), () => ({ ...defaultServerSettings, signInsPerMinuteMax }));
}

test("a try that works counts neither for its place, nor for the region of it, nor for the name in any spelling [C6]", () => {
  const { from, as, worked } = tries(1);
  for (let n = 0; n < 30; n += 1) {
    const address = `2001:db8:7:${n}::1`;
    assert.deepEqual([from(address), as("Ann")], [undefined, undefined], address);
    worked(address, "ANN");
    assert.equal(from(address), undefined, "from the same place");
    worked(address);
  }
});

test("tries that fail are counted for each place, for a region ten times as many, for a name twenty times [C6]", () => {
  const { from, as } = tries(2);
  const taken = (times: number, ask: (n: number) => unknown) =>
    Array.from({ length: times }, (_, n) => ask(n)).filter((refusal) => refusal === undefined).length;
  assert.equal(
    taken(5, () => from("192.0.2.1")),
    2,
  );
  assert.equal(
    taken(50, (n) => from(`2001:db8:7:${n}::1`)),
    20,
  );
  assert.equal(
    taken(50, (n) => as(n % 2 === 0 ? "ann" : "ANN")),
    40,
  );
  assert.equal(
    taken(5, () => from(undefined)),
    2,
    "whoever comes from nowhere that is known is one place",
  );
});
