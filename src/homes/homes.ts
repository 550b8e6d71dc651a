export { openHomes } from "./open-homes.ts";

/** Which server a conversation or a user's sandbox lives in (decision 0101). */
export interface Homes {
  /** The name of this server; its leases carry it. */
  readonly server: string;
  /** Others may have a home, too. */
  readonly isShared: boolean;
  /** Whoever asks first has it, until it dies or lets go. Throws `StorageAway` while nobody can be asked. */
  homeOf(key: HomeKey): Promise<Home>;
  /** Whether it is at home here, now that it was asked for. False once this server lets go of its homes. */
  holds(key: HomeKey): Promise<boolean>;
  /** A peer did not answer: forget what is remembered of it, so that the next question goes to the database. */
  doubt(server: string): void;
  /** Whether others take this server for a living one, for a while yet: only then it does what cannot be undone. */
  isFresh(): boolean;
  /** Calls `listener` whenever another server has ended, or was not seen for too long; the answer ends it. */
  onGone(listener: (server: string) => void): () => void;
  /** Calls `listener` with what was at home here and has been taken by another server; the answer ends it. */
  onLost(listener: (key: HomeKey) => void): () => void;
  /** Calls `listener` when others may have had for a while what is at home here, and have changed it; the answer ends it. */
  onBack(listener: () => void): () => void;
  /** Lets go of all homes; others may take them. */
  close(): Promise<void>;
}

/** The number of a conversation, or an owner. */
export type HomeKey = `c:${number}` | `u:${string}`;

export type Home =
  | { readonly isHere: true }
  | { readonly isHere: false; readonly server: string; readonly address: string };

/** For a storage that one server has to itself. */
export const homesHere: Homes = {
  ...{ server: "here", isShared: false },
  homeOf: async () => ({ isHere: true }),
  holds: async () => true,
  doubt() {},
  isFresh: () => true,
  onGone: () => () => {},
  onLost: () => () => {},
  onBack: () => () => {},
  close: async () => {},
};
