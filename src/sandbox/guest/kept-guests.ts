import { assert } from "../../base/assert.ts";
import { failed, type Result } from "../../base/result.ts";
import type { Guest, GuestWanted, Probe, SandboxFault } from "../provider.ts";

/** The guests of a provider: opened, known while they live, and ended with it. */
export type KeptGuests = {
  open(wanted: GuestWanted): Promise<Result<Guest, SandboxFault>>;
  /** From the moment that one is asked for until it is gone. */
  ids(): ReadonlySet<string>;
  isClosed(): boolean;
  /** Ends all; none is opened any more. */
  close(): Promise<void>;
};

export function keepGuests(start: (wanted: GuestWanted) => Promise<Result<Guest, SandboxFault>>): KeptGuests {
  /** Each as it is when it has started; nothing where it has not, which whoever asked for it hears. */
  const guests = new Map<string, Promise<Guest | undefined>>();
  let isClosed = false;
  return {
    async open(wanted) {
      assert(!guests.has(wanted.id), "a guest has an id of its own");
      if (isClosed) return failed({ why: "unavailable", said: "closed" });
      const { promise, resolve } = Promise.withResolvers<Guest | undefined>();
      guests.set(wanted.id, promise);
      let guest: Guest | undefined;
      try {
        const started = await start(wanted);
        guest = started.ok ? started.value : undefined;
        return started;
      } finally {
        if (guest === undefined) guests.delete(wanted.id);
        else void guest.ended.then(() => guests.delete(wanted.id));
        resolve(guest);
      }
    },
    ids: () => new Set(guests.keys()),
    isClosed: () => isClosed,
    async close() {
      isClosed = true;
      await Promise.all(Array.from(guests.values(), async (starting) => (await starting)?.close("closed")));
    },
  };
}

type Looks<Host> = {
  look(): Promise<{ readonly probe: Probe; readonly host: Host | undefined }>;
  forget?(): void;
};

/** Guests of one machine, engine or cluster, which is looked at before any is started. */
export function keepGuestsOf<Host>(
  machine: Looks<Host>,
  start: (wanted: GuestWanted, host: Host) => Promise<Result<Guest, SandboxFault>>,
): KeptGuests {
  const guests = keepGuests(async (wanted) => {
    const { probe, host } = await machine.look();
    if (guests.isClosed()) return failed({ why: "unavailable", said: "closed" });
    if (host === undefined)
      return failed({ why: "unavailable", said: probe.missing.map(({ name }) => name).join(" ") });
    const started = await start(wanted, host);
    // It went away since we looked.
    if (!started.ok && started.failure.why === "unavailable") machine.forget?.();
    return started;
  });
  return guests;
}
