import type { OwnerId } from "../protocol/ids.ts";

/** What is held open under a key or a sign-in, such as a stream: it ends with what opened it. */
export type Holds = {
  /** Fires when this key of the user, or without one their browsers, count no more. */
  under(user: OwnerId, key?: string): AbortSignal;
  end(user: OwnerId, key?: string): void;
  /** All keys and browsers of the user. */
  endAll(user: OwnerId): void;
};

export function openHolds(): Holds {
  // One for each key that was used and one for all browsers of a user: no more than there are keys and users.
  const held = new Map<string, AbortController>();
  const nameOf = (user: OwnerId, key = "") => `${user} ${key}`;
  function endNamed(name: string): void {
    const controller = held.get(name);
    held.delete(name);
    controller?.abort();
  }
  return {
    under(user, key) {
      const name = nameOf(user, key);
      const controller = held.get(name) ?? new AbortController();
      held.set(name, controller);
      return controller.signal;
    },
    end: (user, key) => endNamed(nameOf(user, key)),
    endAll(user) {
      for (const name of [...held.keys()].filter((one) => one.startsWith(nameOf(user)))) endNamed(name);
    },
  };
}
