import type { Result } from "../base/result.ts";
import type { StorageFailure } from "./storage.ts";

/** One server among those that share a storage, and where the others reach it. */
export type ServerRow = { readonly id: string; readonly address: string };

/** Who lives on a storage, and whether something rests on the key of secrets or on files. */
export type Present = {
  readonly servers: readonly ServerRow[];
  readonly hasSecrets: boolean;
  readonly hasFiles: boolean;
};

/**
 * What storages tell by themselves, with the change: tool boxes (by id), secrets (by name) and users that were stored or dropped;
 * and whose key counts no more (`alice key-id`), whose browsers (`alice `), or all of it (`alice *`).
 */
export const toldTopics = {
  ...{ toolboxes: "toolboxes", secrets: "secrets", users: "users", signedOut: "signed out", gap: "gap" },
} as const;

/** `gap`: nobody knows what was told for a moment. Whoever remembers something looks again. */
export type Told = { readonly topic: string; readonly key: string };

/** A server that was not seen for so long is gone: its leases and its homes are free. */
export const serverGoneMs = 3_000;

/**
 * Several servers on one storage. Times are those of the storage, which all of them share. A storage that one server
 * has to itself keeps no list of servers: everything is at home with whoever asks, and there is nobody to be told.
 */
export interface Sharing {
  /**
   * Notes that this server lives; answers who does, it included. `wasGone`: others may have taken what it had, because it
   * was not seen for too long, or has only just begun.
   */
  beat(server: ServerRow): Promise<{ readonly wasGone: boolean; readonly living: readonly ServerRow[] }>;
  /** Whoever asks first has it, until it is gone or leaves. Undefined: the one that asks is not known to live. */
  homeOf(key: string, asker: string): Promise<ServerRow | undefined>;
  /** It is known that it ended without a word: as if it had not been seen for too long. */
  bury(server: string): Promise<Result<void, StorageFailure>>;
  /** In one moment: its homes and leases are free, and it is known no more. */
  leave(server: string): Promise<Result<void, StorageFailure>>;
  /** The address of this server as the storage sees it; undefined where both are on one machine. */
  addressSeen(): Promise<string | undefined>;
  /** What all servers must have in common, by name: the first one says it, and hears back what counts. */
  agree(name: string, value: string): Promise<Result<string, StorageFailure>>;
  /** Takes the place of what was agreed on, where nothing speaks against it in that moment; false: something does. */
  agreeAnew(
    name: string,
    value: string,
    mayChange: (present: Present) => boolean,
  ): Promise<Result<boolean, StorageFailure>>;
  /** Tells all other servers. Who is cut off just then hears of a gap later. */
  tell(topic: string, key: string): Promise<Result<void, StorageFailure>>;
  /** Calls `listener` with what other servers tell; the answer ends it. */
  onTold(listener: (told: Told) => void): () => void;
}
