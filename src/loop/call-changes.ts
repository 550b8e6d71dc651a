import type { Result } from "../base/result.ts";
import { failure } from "../protocol/failure.ts";
import {
  type ChangeOptions,
  type FileChange,
  type FileFailure,
  shownPath,
  type Workspace,
} from "../workspace/workspace.ts";
import { type CallLedger, openCallLedger } from "./call-ledger.ts";

/** What one call does to files. */
export type CallChanges = Pick<CallLedger, "settled" | "untold"> & {
  /** The files as the call works with them: when it is stopped no change is begun any more. */
  over(files: Workspace): Workspace;
};

/** Keeps the ledger whole whatever becomes of a call: it may be stopped, break down or forget to tell. */
export function watchChanges(call: string, stop: AbortSignal): CallChanges {
  const { watch, settled, untold } = openCallLedger({ by: "tool", call });
  return {
    settled,
    untold,
    over(files) {
      const workspace = files.kind === "task" ? files.id : undefined;
      const note = (done: Promise<Result<FileChange, FileFailure>>) =>
        watch(done, (result) => (result.ok ? [result.value] : []), workspace);
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
  };
}

function stoppable<T extends Pick<ChangeOptions, "signal">>(options: T | undefined, stop: AbortSignal) {
  const { signal } = options ?? {};
  return { ...options, signal: signal === undefined ? stop : AbortSignal.any([signal, stop]) };
}
