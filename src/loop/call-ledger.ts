import { whenOver } from "../base/background.ts";
import { fileChanged, type NewEvent } from "../protocol/events.ts";
import type { FileChange } from "../workspace/workspace.ts";

/** What one call did to files, whatever becomes of it: it may be stopped, break down or forget to tell. */
export type CallLedger = {
  /** Work that may still change files; `done` says what it did. */
  watch<T>(work: Promise<T>, done?: (value: T) => readonly FileChange[], workspace?: string): Promise<T>;
  /** Resolves when no such work is under way. */
  settled(): Promise<void>;
  /** The ledger's lines for what was done so far, without those that `events` already have. */
  untold(events: readonly NewEvent[]): NewEvent[];
};

export function openCallLedger(whose: Whose): CallLedger {
  const made: { readonly change: FileChange; readonly workspace: string | undefined }[] = [];
  const pending = new Set<Promise<unknown>>();

  return {
    watch(work, done, workspace) {
      const noted = work.then((value) => {
        made.push(...(done?.(value) ?? []).map((change) => ({ change, workspace })));
        return value;
      });
      const settled: Promise<unknown> = whenOver(noted).then(() => pending.delete(settled));
      pending.add(settled);
      return noted;
    },
    async settled() {
      while (pending.size > 0) await Promise.all(pending);
    },
    untold(events) {
      const told = new Set(events.map((event) => (event.type === "file.changed" ? event.path : undefined)));
      return made
        .filter(({ change }) => !told.has(change.path) && !isUnchanged(change))
        .map(({ change, workspace }) =>
          fileChanged(change, { ...whose, ...(workspace === undefined ? {} : { workspace }) }),
        );
    },
  };
}

type Whose = Parameters<typeof fileChanged>[1];

/** The same bytes once more. */
function isUnchanged({ before, after }: FileChange): boolean {
  return before?.hash !== undefined && before.hash === after?.hash && before.mode === after.mode;
}
