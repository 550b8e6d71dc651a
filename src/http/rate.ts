import { createHash } from "node:crypto";
import type { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { type Failure, makeFailure } from "../protocol/failure.ts";

const windowSeconds = 60;

/** How often somebody may still call; `refusal` when not at all before the window is over. */
export type Allowance = {
  readonly headers: Readonly<Record<string, string>>;
  readonly refusal: Failure<"rate_limited"> | undefined;
};

export type Rate = {
  /** Counts one more call of `who`, of whom `max` are taken in a minute. */
  count(who: string, max: number): Promise<Allowance>;
  /** Takes back one that was counted. */
  giveBack(who: string, max: number): Promise<void>;
};

/** Counts in memory: a start begins anew, which nobody can bring about from outside. */
export function openRate(): Rate {
  // One for each limit: the settings may change while it runs.
  const limiters = new Map<number, RateLimiterMemory>();
  return {
    async count(who, max) {
      // Loaded with the first call over the network: a terminal makes none.
      const library = await import("rate-limiter-flexible");
      const limiter = limiters.get(max) ?? new library.RateLimiterMemory({ points: max, duration: windowSeconds });
      limiters.set(max, limiter);
      const { spent, isOver } = await consume(library, limiter, keyOf(who));
      const seconds = Math.max(1, Math.ceil(spent.msBeforeNext / 1000));
      return {
        headers: {
          "ratelimit-limit": String(max),
          "ratelimit-remaining": String(Math.max(0, spent.remainingPoints)),
          "ratelimit-reset": String(seconds),
        },
        refusal: isOver ? makeFailure("rate_limited", { retryAfterSeconds: seconds }) : undefined,
      };
    },
    async giveBack(who, max) {
      await limiters.get(max)?.reward(keyOf(who));
    },
  };
}

type Library = typeof import("rate-limiter-flexible");
type Consumed = { readonly spent: RateLimiterRes; readonly isOver: boolean };

/** The library throws what is no error: one call too many. */
async function consume(library: Library, limiter: RateLimiterMemory, key: string): Promise<Consumed> {
  try {
    return { spent: await limiter.consume(key), isOver: false };
  } catch (thrown) {
    if (thrown instanceof library.RateLimiterRes) return { spent: thrown, isOver: true };
    throw thrown;
  }
}

/** Names come from outside and may be as long as a body. */
function keyOf(who: string): string {
  return who.length <= 64 ? who : createHash("sha256").update(who).digest("hex");
}
