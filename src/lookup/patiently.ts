import type { Clock } from "../base/clock.ts";

/** What is not in the index after this is named, and found the next time. */
const waitMsMax = 15_000;

/** Waits until it is over, or for as long as somebody wants it; undefined: it is not over yet. */
export async function patiently<T>(
  work: Promise<T>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<T | undefined> {
  const isOver = new AbortController();
  const late = clock.wait(waitMsMax, AbortSignal.any([signal, isOver.signal])).then(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    isOver.abort();
  }
}
