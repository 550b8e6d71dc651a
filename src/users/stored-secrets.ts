import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { SecretNote, SecretStorage, StorageFailure } from "../storage/storage.ts";
import { nonceBytes, type Seal, sealWith } from "./seal.ts";

/** Tokens and passwords for calls to others. No route gives a value out: who needs one calls `open` in this process. */
export type Secrets = {
  /** The same name again replaces the value. */
  put(
    owner: OwnerId,
    name: string,
    value: string,
  ): Promise<Result<void, StorageFailure | Failure<"secret_key_unusable" | "secret_too_long">>>;
  /** Undefined where there is none. */
  open(
    owner: OwnerId,
    name: string,
  ): Promise<Result<string | undefined, Failure<"secret_key_unusable" | "secret_sealed">>>;
  /** In the order of their names. */
  list(owner: OwnerId): Promise<SecretNote[]>;
  /** False: there was none. */
  drop(owner: OwnerId, name: string): Promise<Result<boolean, StorageFailure>>;
};

/** The text that everything is sealed under, wherever it lies. */
export type SecretKey = {
  /** Undefined where there is none yet. */
  find(): Result<string | undefined, Failure<"secret_key_unusable">>;
  /** The one there is, or a new one. */
  make(): Result<string, Failure<"secret_key_unusable">>;
};

export type SecretParts = {
  readonly storage: SecretStorage;
  readonly key: SecretKey;
  readonly clock: Clock;
  readonly ids: Ids;
};

/** More than any token has. */
const secretBytesMax = 64 * 1024;
const listedMax = 10_000;

export function openSecrets({ storage, key, clock, ids }: SecretParts): Secrets {
  const seals = openSeals();
  return {
    async put(owner, name, value) {
      if (Buffer.byteLength(value) > secretBytesMax) return failure("secret_too_long", { limitBytes: secretBytesMax });
      const text = key.make();
      if (!text.ok) return text;
      const nonce = Buffer.from(ids.hex(2 * nonceBytes), "hex");
      const sealed = seals.under(text.value).seal(value, { place: placeOf(owner, name), nonce });
      const now = clock.now();
      return storage.putSecret({ owner, name, sealed, createdAt: now, updatedAt: now });
    },
    async open(owner, name) {
      const row = await storage.findSecret(owner, name);
      if (row === undefined) return ok(undefined);
      // Looked for and not made: another key than the one that is missing opens nothing.
      const text = key.find();
      if (!text.ok) return text;
      if (text.value === undefined) return failure("secret_key_unusable", { why: "missing" });
      const opened = seals.under(text.value).open(row.sealed, placeOf(owner, name));
      return opened.ok ? opened : failure("secret_sealed", { name, why: opened.failure });
    },
    list: (owner) => storage.listSecrets(owner, listedMax),
    drop: (owner, name) => storage.dropSecret(owner, name),
  };
}

/** Goes into the seal, so that a value that was copied to another row does not open there. */
function placeOf(owner: OwnerId, name: string): string {
  return `${owner}\n${name}`;
}

/** The last one is kept: making it takes longer than using it. */
function openSeals() {
  let last: { readonly text: string; readonly seal: Seal } | undefined;
  return {
    under(text: string): Seal {
      if (last?.text !== text) last = { text, seal: sealWith(text) };
      return last.seal;
    },
  };
}
