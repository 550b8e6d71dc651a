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
  const guests = new Map<string, Promise<Result<Guest, SandboxFault>>>();
  let isClosed = false;
  return {
    async open(wanted) {
      assert(!guests.has(wanted.id), "a guest has an id of its own");
      const starting = isClosed
        ? Promise.resolve(failed({ why: "unavailable", said: "closed" } as const))
        : start(wanted);
      guests.set(wanted.id, starting);
      let isOpen = false;
      try {
        const started = await starting;
        isOpen = started.ok;
        if (started.ok) void started.value.ended.then(() => guests.delete(wanted.id));
        return started;
      } finally {
        if (!isOpen) guests.delete(wanted.id);
      }
    },
    ids: () => new Set(guests.keys()),
    isClosed: () => isClosed,
    async close() {
      isClosed = true;
      await Promise.all(
        Array.from(guests.values(), async (starting) => {
          const [started] = await Promise.allSettled([starting]); // A fault hears whoever asked for it.
          if (started.status === "fulfilled" && started.value.ok) await started.value.value.close("closed");
        }),
      );
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
