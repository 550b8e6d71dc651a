import { once } from "node:events";
import { Worker } from "node:worker_threads";

/** One call of an exported function, with arguments that a thread can be given. */
export type Call = { readonly name: string; readonly with: readonly unknown[] };
export type Counted<Value = unknown> = { readonly value: Value; readonly steps: number };

/**
 * How many blocks of source each call runs through, ours and that of packages, counted by the engine: the same on every machine, however busy.
 * In a thread of its own, so that nothing else is counted or slowed down. What a built-in function does inside counts as one.
 */
export async function countSteps<Value>(module: URL, calls: readonly Call[]): Promise<Counted<Value>[]> {
  const worker = new Worker(new URL("./steps-worker.ts", import.meta.url), {
    workerData: { module: module.href, calls },
    env: {},
  });
  try {
    // What takes minutes by mistake is told as that; a machine with much else to do is not.
    const [counted] = await once(worker, "message", { signal: AbortSignal.timeout(limitMs) });
    return counted;
  } finally {
    await worker.terminate();
  }
}

const limitMs = 100_000;
