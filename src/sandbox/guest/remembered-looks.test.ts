import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { rememberLooks } from "./remembered-looks.ts";

test("what a machine can do is known until somebody asks anew; that it can do nothing counts for ten seconds [X3]", async () => {
  const clock = manualClock();
  let looks = 0;
  let host: string | undefined;
  let fault: Error | undefined;
  const machine = rememberLooks(clock, async () => {
    looks += 1;
    if (fault !== undefined) throw fault;
    return { host, look: looks };
  });
  const look = async (isFresh?: boolean) => (await machine.look(isFresh)).look;
  assert.deepEqual(await Promise.all([look(), look()]), [1, 1]);
  clock.move(9999);
  assert.equal(await look(), 1);
  host = "here";
  clock.move(1);
  assert.equal(await look(), 2);
  clock.move(1_000_000);
  assert.deepEqual([await look(), await look(true), await look()], [2, 3, 3]);
  machine.forget();
  assert.equal(await look(), 4);
  // A look that broke down is none that somebody could rely on, and is not made at once for everybody who asks.
  fault = new Error("broken");
  await assert.rejects(look(true));
  await machine.settled();
  await assert.rejects(look());
  assert.equal(looks, 5);
  fault = undefined;
  clock.move(10_000);
  assert.equal(await look(), 6);
});
