import type { Clock } from "../base/clock.ts";
import type { OwnerId } from "../protocol/ids.ts";
import { type Sharing, toldTopics } from "../storage/storage.ts";

/** What is held open under a key or a sign-in, such as a stream: it ends with what opened it. */
export type Holds = {
  /** Fires when this key or browser of the user counts no more; at the latest when it ends by itself. The same one each time. */
  under(user: OwnerId, key: string, endsAt?: number): AbortSignal;
  /** This key of the user; without one all their browsers. */
  end(user: OwnerId, key?: string): void;
  /** All keys and browsers of the user. */
  endAll(user: OwnerId): void;
};

type Parts = { readonly storage: Pick<Sharing, "onTold">; readonly clock: Clock };
type Held = { readonly controller: AbortController; endsAt: number | undefined; forgetEnd: () => void };

/** One browser, where keys have their ids. */
export function browserNamed(hash: string): string {
  return `${browsers}${hash}`;
}

const browsers = "browser ";

/** `storage` tells what counts no more because of other servers. After a gap nobody knows: all ends. */
export function openHolds({ storage, clock }: Parts): Holds {
  // One for each key and browser that was used: no more than there are of these.
  const held = new Map<string, Held>();
  const nameOf = (user: OwnerId, key = "") => `${user} ${key}`;
  function endNamed(name: string): void {
    const one = held.get(name);
    held.delete(name);
    one?.forgetEnd();
    one?.controller.abort();
  }
  /** By name; without a key all browsers of the user, with `*` in its place all that they have. */
  function end(name: string): void {
    const begins = name.endsWith(" ") ? `${name}${browsers}` : name.endsWith(" *") ? name.slice(0, -1) : undefined;
    if (begins === undefined) return endNamed(name);
    for (const one of [...held.keys()].filter((each) => each.startsWith(begins))) endNamed(one);
  }
  storage.onTold((told) => {
    if (told.topic === toldTopics.gap) for (const name of [...held.keys()]) endNamed(name);
    if (told.topic === toldTopics.signedOut) end(told.key);
  });
  return {
    under(user, key, endsAt) {
      const name = nameOf(user, key);
      const one = held.get(name) ?? { controller: new AbortController(), endsAt: undefined, forgetEnd: () => {} };
      held.set(name, one);
      if (one.endsAt === endsAt) return one.controller.signal;
      // A browser in use is given a new end.
      one.forgetEnd();
      one.endsAt = endsAt;
      if (endsAt !== undefined) one.forgetEnd = clock.after(Math.max(0, endsAt - clock.now()), () => endNamed(name));
      return one.controller.signal;
    },
    end: (user, key) => end(nameOf(user, key)),
    endAll: (user) => end(nameOf(user, "*")),
  };
}
