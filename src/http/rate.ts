import { createHash } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";

const windowMs = 60_000;

/** How often somebody may still call; `refusal` when not at all before the window is over. */
export type Allowance = {
  readonly headers: Readonly<Record<string, string>>;
  readonly refusal: Failure<"rate_limited"> | undefined;
};

export type Rate = {
  /** Counts one more call of `who`, of whom `max` are taken in a minute; `call` is what may be given back. */
  count(who: string, max: number, call?: object): Allowance;
  /** Takes back all that was counted for this call, and nothing of a minute that has begun since. */
  giveBack(call: object): void;
};

type Window = { used: number; readonly endsAt: number };

/** Counts in memory: a start begins anew, which nobody can bring about from outside. */
export function openRate(clock: Clock): Rate {
  // All last as long and a new one comes in at the end, so those that are over stand in front.
  const windows = new Map<string, Window>();
  const counted = new WeakMap<object, Window[]>();

  function forgetOver(now: number): void {
    for (const [key, { endsAt }] of windows) {
      if (endsAt > now) return;
      windows.delete(key);
    }
  }

  return {
    count(who, max, call) {
      const [key, now] = [keyOf(who), clock.monotonic()];
      forgetOver(now);
      const window = windows.get(key) ?? { used: 0, endsAt: now + windowMs };
      windows.set(key, window);
      window.used += 1;
      if (call !== undefined) counted.set(call, [...(counted.get(call) ?? []), window]);
      const seconds = Math.ceil((window.endsAt - now) / 1000);
      return {
        headers: {
          "ratelimit-limit": String(max),
          "ratelimit-remaining": String(Math.max(0, max - window.used)),
          "ratelimit-reset": String(seconds),
        },
        refusal: window.used > max ? makeFailure("rate_limited", { retryAfterSeconds: seconds }) : undefined,
      };
    },
    giveBack(call) {
      for (const window of counted.get(call) ?? []) window.used -= 1;
      counted.delete(call);
    },
  };
}

/** Names come from outside and may be as long as a body. */
function keyOf(who: string): string {
  return who.length <= 64 ? who : createHash("sha256").update(who).digest("hex");
}
