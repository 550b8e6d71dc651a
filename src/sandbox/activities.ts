import type { OwnerId } from "../protocol/ids.ts";

/** Everything that uses a guest or is about to: so that it can be ended together with what it uses. */
export interface Activities {
  begin(whose: Whose, signal?: AbortSignal | undefined): Activity;
  /** Whether one that matches is busy. */
  has(match: (whose: Whose) => boolean): boolean;
  /** Ends all that match, and resolves when those that are busy are over. */
  end(match: (whose: Whose) => boolean): Promise<void>;
  /** What begins from now on is ended at once. */
  close(): void;
}

export type Whose = { readonly owner: OwnerId; readonly conversation: number | undefined };
export type Activity = {
  /** Fires when it is ended from here, or by the caller's own one. */
  readonly signal: AbortSignal;
  /** It has its session and goes on to a guest. Until then nobody waits for it: it may itself wait for who ends it. */
  busy(): void;
  over(): void;
};

type Entry = { readonly whose: Whose; readonly over: Promise<void>; abort(): void; isBusy: boolean };

export function openActivities(): Activities {
  const all = new Set<Entry>();
  let isClosed = false;
  return {
    begin(whose, outer) {
      const controller = new AbortController();
      const { promise: over, resolve } = Promise.withResolvers<void>();
      const abort = () => controller.abort();
      const entry: Entry = { whose, over, abort, isBusy: false };
      all.add(entry);
      // Not AbortSignal.any: a conversation's signal would hold on to each of its executions.
      outer?.addEventListener("abort", abort, { once: true });
      if (isClosed || outer?.aborted) abort();
      return {
        signal: controller.signal,
        busy() {
          entry.isBusy = true;
        },
        over() {
          outer?.removeEventListener("abort", abort);
          all.delete(entry);
          resolve();
        },
      };
    },
    has: (match) => [...all].some(({ whose, isBusy }) => isBusy && match(whose)),
    close() {
      isClosed = true;
    },
    async end(match) {
      const ended = [...all].filter(({ whose }) => match(whose));
      for (const { abort } of ended) abort();
      await Promise.all(ended.filter(({ isBusy }) => isBusy).map(({ over }) => over));
    },
  };
}
