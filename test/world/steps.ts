import { once } from "node:events";
import { Session } from "node:inspector/promises";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

/** One call of an exported function, with arguments that a thread can be given. */
export type Call = { readonly name: string; readonly with: readonly unknown[] };
type Counted<Value = unknown> = { readonly value: Value; readonly steps: number };

/**
 * How many blocks of source each call runs through, ours and that of packages, counted by the engine: the same on every
 * machine, however busy. In a thread of its own, so that nothing else is counted or slowed down. A built-in function counts as one.
 */
export async function countSteps<Value>(module: URL, calls: readonly Call[]): Promise<Counted<Value>[]> {
  const worker = new Worker(new URL(import.meta.url), { workerData: { module: module.href, calls }, env: {} });
  try {
    // What takes minutes by mistake is told as that; a machine with much else to do is not.
    const [counted] = await once(worker, "message", { signal: AbortSignal.timeout(limitMs) });
    return counted;
  } finally {
    await worker.terminate();
  }
}

const limitMs = 100_000;

if (!isMainThread) {
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
    const { result } = await session.post("Profiler.takePreciseCoverage");
    const ranges = result.flatMap(({ url, functions }) =>
      url.startsWith("file:") ? functions.flatMap(({ ranges }) => ranges) : [],
    );
    counted.push({ value, steps: ranges.reduce((sum, { count }) => sum + count, 0) });
  }
  parentPort?.postMessage(counted);
}
