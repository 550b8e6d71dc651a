import type { Failure } from "../protocol/failure.ts";
import { networkOf } from "./arrival.ts";
import type { Rate } from "./rate.ts";
import type { ServerSettings } from "./settings.ts";

/**
 * Far more than for a place: whoever knows a name could otherwise keep its owner out with wrong passwords. It holds up
 * only those who guess from many places at once.
 */
const timesByName = 20;

/** Tries to show who one is. Each counts beforehand, so that many at once are no way around; one that works does not. */
export type Tries = {
  /** One more from this place, counted before anything of it is read. */
  from(address: string | undefined): Failure<"rate_limited"> | undefined;
  /** It is about this name. */
  as(name: string): Failure<"rate_limited"> | undefined;
  /** Takes it back. `name`: where it was counted. */
  worked(address: string | undefined, name?: string): void;
};

export function openTries(rate: Rate, server: () => ServerSettings): Tries {
  const place = (address: string | undefined) => `sign-in from ${networkOf(address)}`;
  const person = (name: string) => `sign-in as ${name.toLowerCase()}`;
  return {
    from: (address) => rate.count(place(address), server().signInsPerMinuteMax).refusal,
    as: (name) => rate.count(person(name), server().signInsPerMinuteMax * timesByName).refusal,
    worked(address, name) {
      rate.giveBack(place(address));
      if (name !== undefined) rate.giveBack(person(name));
    },
  };
}
