/** Loaded into a service before it starts. Asked over its channel, it collects all garbage and says what is left. */
import { setImmediate as nextTurn } from "node:timers/promises";

/** What one finds to be dead may hold something that only the next one finds. */
const collections = 4;

process.on("message", () => void tell());
// It is not what keeps a service alive.
process.channel?.unref();

async function tell(): Promise<void> {
  if (globalThis.gc === undefined) throw new Error("Node was started without --expose-gc");
  for (let count = 0; count < collections; count += 1) {
    globalThis.gc();
    await nextTurn();
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  process.send?.({ liveMib: (heapUsed + external) / 2 ** 20, residentMib: rss / 2 ** 20 });
}
