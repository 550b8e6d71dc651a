import type { EventOf, EventType, LogEvent } from "../../src/protocol/events.ts";

/** All events of one type. */
export function all<T extends EventType>(events: readonly LogEvent[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type);
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Looks again until it is so. The limit is for what never comes: no busy machine reaches it, and it says what was waited for. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>, limitMs = 60_000): Promise<void> {
  const startedAt = performance.now();
  while (!(await isSo())) {
    if (performance.now() - startedAt > limitMs) throw new Error(`still not so after ${limitMs} ms: ${what}`);
    await pause(10);
  }
}
