import assert from "node:assert/strict";
import type { Storage } from "../../src/storage/storage.ts";

/** Another server takes the conversation over in the very moment of such a write. */
export function takenOverAt(
  isThen: (batch: Parameters<Storage["append"]>[0]) => boolean,
): (storage: Storage) => Storage {
  return (storage) => {
    let lease = { holder: "", epoch: 0 };
    return {
      ...storage,
      async claimLease(number, holder, ttlMs) {
        const claimed = await storage.claimLease(number, holder, ttlMs);
        if (claimed.ok) lease = { holder, epoch: claimed.value.epoch };
        return claimed;
      },
      async append(batch) {
        if (isThen(batch)) {
          await storage.releaseLease(batch.number, lease);
          assert.ok((await storage.claimLease(batch.number, "another server", 60_000)).ok);
        }
        return storage.append(batch);
      },
    };
  };
}
