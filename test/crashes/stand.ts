import type { Storage } from "../../src/storage/storage.ts";
import { killingStorage } from "../world/killing-storage.ts";
import { eventsIn, writtenBy } from "./scenario.ts";

/** After which write: the third one, or the third one of this name. */
export type KillAfter = { readonly write?: string; readonly times: number };

type Told = {
  /** A line for whoever will kill this process: what was acknowledged, in the moment it was, and what was written last. */
  readonly tell: (told: object) => void;
  /** The last write is on disk, and nothing moves any more. */
  readonly stand: () => void;
};

/** A storage at which a yard comes to a stand when this write of it is on disk. */
export function standingAfter(killAfter: KillAfter | undefined, { tell, stand }: Told): (storage: Storage) => Storage {
  let times = 0;
  const isLast = (name: string, given: readonly unknown[]) => {
    const write = writtenBy(name, given);
    if ((killAfter?.write ?? write) === write) times += 1;
    const isSo = times === killAfter?.times;
    if (isSo) tell({ last: { write, events: eventsIn(given) } });
    return isSo;
  };
  return (storage) => killingStorage(telling(storage, tell), { isLast, kill: stand });
}

function telling(storage: Storage, tell: Told["tell"]): Storage {
  return {
    ...storage,
    async append(batch) {
      const stored = await storage.append(batch);
      if (stored.ok) tell({ number: batch.number, seq: stored.value.lastSeq });
      return stored;
    },
  };
}
