import { writeSync } from "node:fs";
import { after } from "node:test";
import { systemClock } from "../../src/base/clock.ts";

/** A process whose tests are over ends by itself. One that something keeps alive would let the whole run wait for ever. */
const endMsMax = 120_000;

after(() => {
  systemClock.after(endMsMax, () => {
    const kept = process.getActiveResourcesInfo().join(", ");
    writeSync(2, `the tests are over, but this keeps their process alive: ${kept}\n`);
    process.exit(1);
  });
});
