import type { Failure } from "../protocol/failure.ts";
import { type Arrival, networkOf } from "./arrival.ts";
import type { Rate } from "./rate.ts";
import type { ServerSettings } from "./settings.ts";

/**
 * Far more than for a place: whoever knows a name could otherwise keep its owner out with wrong passwords. It holds up
 * only those who guess from many places at once.
 */
const timesByName = 20;
/** Of IPv6 one customer may have 65,536 networks, each of which would count as a place of its own. */
const timesByRegion = 10;

/** Tries to show who one is. Each counts beforehand, so that many at once are no way around; one that works does not. */
export type Tries = {
  /** One more from this place, counted before anything of it is read. */
  from(arrival: Arrival): Failure<"rate_limited"> | undefined;
  /** It is about this name. */
  as(name: string, arrival: Arrival): Failure<"rate_limited"> | undefined;
  /** Takes back what was counted of it. */
  worked(arrival: Arrival): void;
};

export function openTries(rate: Rate, server: () => ServerSettings): Tries {
  const place = (address: string | undefined) => `sign-in from ${networkOf(address)}`;
  const region = (address: string | undefined) => {
    const network = networkOf(address);
    return network.includes(":") ? `sign-in near ${network.split(":").slice(0, 3).join(":")}` : undefined;
  };
  const person = (name: string) => `sign-in as ${name.toLowerCase()}`;
  return {
    from(arrival) {
      const { signInsPerMinuteMax: max } = server();
      const { address } = arrival;
      const [here, near] = [rate.count(place(address), max, arrival).refusal, region(address)];
      return here ?? (near === undefined ? undefined : rate.count(near, max * timesByRegion, arrival).refusal);
    },
    as: (name, arrival) => rate.count(person(name), server().signInsPerMinuteMax * timesByName, arrival).refusal,
    worked: (arrival) => rate.giveBack(arrival),
  };
}
