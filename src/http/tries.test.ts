import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/world/manual-clock.ts";
import type { Arrival } from "./arrival.ts";
import { openRate } from "./rate.ts";
import { defaultServerSettings } from "./settings.ts";
import { openTries } from "./tries.ts";

function tries(signInsPerMinuteMax: number, clock = manualClock()) {
  return openTries(openRate(clock), () => ({ ...defaultServerSettings, signInsPerMinuteMax }));
}

const at = (address: string | undefined): Arrival => ({
  ...{ address, isVeiled: false, isFromHere: false, host: "h", scheme: undefined, prefix: "" },
});

test("a try that works counts neither for its place, nor for the region of it, nor for the name in any spelling [C6]", () => {
  const { from, as, worked } = tries(1);
  for (let n = 0; n < 30; n += 1) {
    const [address, name] = [`2001:db8:7:${n}::1`, n % 2 === 0 ? "Ann" : "ANN"];
    const [first, second] = [at(address), at(address)];
    assert.deepEqual([from(first), as(name, first)], [undefined, undefined], address);
    worked(first);
    assert.equal(from(second), undefined, "from the same place");
    worked(second);
  }
});

test("tries that fail are counted for each place, for a region ten times as many, for a name twenty times [C6]", () => {
  const { from, as } = tries(2);
  const taken = (times: number, ask: (n: number) => unknown) =>
    Array.from({ length: times }, (_, n) => ask(n)).filter((refusal) => refusal === undefined).length;
  assert.equal(
    taken(5, () => from(at("192.0.2.1"))),
    2,
  );
  assert.equal(
    taken(50, (n) => from(at(`2001:db8:7:${n}::1`))),
    20,
  );
  assert.equal(
    taken(50, (n) => as(n % 2 === 0 ? "ann" : "ANN", at(undefined))),
    40,
  );
  assert.equal(
    taken(5, () => from(at(undefined))),
    2,
    "whoever comes from nowhere that is known is one place",
  );
});

test("whoever signs in while a minute ends gives nobody one more try in the next [C6]", () => {
  const clock = manualClock();
  const { from, as, worked } = tries(1, clock);
  const slow = at("192.0.2.1");
  assert.deepEqual([from(slow), as("ann", slow)], [undefined, undefined]);
  clock.move(60_000);
  assert.equal(from(at("192.0.2.1")), undefined, "somebody else who guesses");
  worked(slow);
  assert.equal(from(at("192.0.2.1"))?.code, "rate_limited");
});
