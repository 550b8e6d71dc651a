import type { Result } from "../base/result.ts";
import { fileChanged, type NewEvent } from "../protocol/events.ts";
import { failure } from "../protocol/failure.ts";
import {
  type ChangeOptions,
  type FileChange,
  type FileFailure,
  shownPath,
  type Workspace,
} from "../workspace/workspace.ts";

/** What one call does to files. */
export type CallChanges = {
  /** The files as the call works with them: when it is stopped no change is begun any more. */
  over(files: Workspace): Workspace;
  /** Resolves when no change is under way. */
  settled(): Promise<void>;
  /** The ledger's lines for what was changed so far, without those that `facts` already have. */
  untold(facts: readonly NewEvent[]): NewEvent[];
};

/** Keeps the ledger whole whatever becomes of a call: it may be stopped, break down or forget to tell. */
export function watchChanges(call: string, stop: AbortSignal): CallChanges {
  const made: { readonly change: FileChange; readonly workspace: string | undefined }[] = [];
  const pending = new Set<Promise<unknown>>();

  function watch<T>(change: Promise<T>): Promise<T> {
    const settled: Promise<unknown> = change.catch(() => {}).then(() => pending.delete(settled));
    pending.add(settled);
    return change;
  }

  return {
    over(files) {
      const workspace = files.kind === "task" ? files.id : undefined;
      const note = (done: Promise<Result<FileChange, FileFailure>>) =>
        watch(
          done.then((result) => {
            if (result.ok) made.push({ change: result.value, workspace });
            return result;
          }),
        );
      return {
        ...files,
        write: (path, data, options) => note(files.write(path, data, stoppable(options, stop))),
        remove: (path, options) => note(files.remove(path, stoppable(options, stop))),
        restore: (path, state, options) => note(files.restore(path, state, stoppable(options, stop))),
        empty: async (path) =>
          stop.aborted
            ? failure("write_failed", { path: shownPath(path), why: "broken_off" })
            : watch(files.empty(path)),
      };
    },
    async settled() {
      while (pending.size > 0) await Promise.all(pending);
    },
    untold(facts) {
      const told = new Set(facts.map((fact) => (fact.type === "file.changed" ? fact.path : undefined)));
      return made
        .filter(({ change }) => !told.has(change.path) && !isUnchanged(change))
        .map(({ change, workspace }) =>
          fileChanged(change, { by: "tool", call, ...(workspace === undefined ? {} : { workspace }) }),
        );
    },
  };
}

function stoppable<T extends Pick<ChangeOptions, "signal">>(options: T | undefined, stop: AbortSignal) {
  const { signal } = options ?? {};
  return { ...options, signal: signal === undefined ? stop : AbortSignal.any([signal, stop]) };
}

/** The same bytes once more. */
function isUnchanged({ before, after }: FileChange): boolean {
  return before?.hash !== undefined && before.hash === after?.hash && before.mode === after.mode;
}
