/** See steps.ts. */
import { Session } from "node:inspector/promises";
import { parentPort, workerData } from "node:worker_threads";
import type { Call, Counted } from "./steps.ts";

const { module, calls }: { module: string; calls: readonly Call[] } = workerData;
const functions = await import(module);
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
const counted: Counted[] = [];
for (const call of calls) {
  await session.post("Profiler.takePreciseCoverage"); // Begins anew.
  const value = functions[call.name](...call.with);
  counted.push({ value, steps: await stepsTaken() });
}
parentPort?.postMessage(counted);

async function stepsTaken(): Promise<number> {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const ranges = result.flatMap(({ url, functions }) =>
    url.startsWith("file:") ? functions.flatMap(({ ranges }) => ranges) : [],
  );
  return ranges.reduce((sum, { count }) => sum + count, 0);
}
