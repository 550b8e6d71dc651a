import type { Storage } from "../../src/storage/storage.ts";

/**
 * Ends the process, as a power cut would, when the n-th append is on disk and nobody has heard of it yet. A failed
 * append does not count; a new conversation with events does.
 */
export function killingStorage(storage: Storage, { afterAppends }: { afterAppends: number }): Storage {
  let left = afterAppends;
  return watched(storage, () => {
    left -= 1;
    if (left === 0) process.kill(process.pid, "SIGKILL");
  });
}

/** Counts what `killingStorage` would count: run a scenario once with this one to know how often it can be killed. */
export function countingStorage(storage: Storage): { readonly storage: Storage; appends(): number } {
  let count = 0;
  const counted = watched(storage, () => {
    count += 1;
  });
  return { storage: counted, appends: () => count };
}

function watched(storage: Storage, onAppended: () => void): Storage {
  return {
    ...storage,
    async createConversation(conversation) {
      const made = await storage.createConversation(conversation);
      if (made.ok && conversation.events.length > 0) onAppended();
      return made;
    },
    async append(batch) {
      const appended = await storage.append(batch);
      if (appended.ok) onAppended();
      return appended;
    },
  };
}
