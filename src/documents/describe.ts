import { posix } from "node:path";
import type { Clock } from "../base/clock.ts";
import { ok } from "../base/result.ts";
import type { FileStat, Workspace } from "../workspace/workspace.ts";
import type { Documents } from "./documents.ts";
import { fileTypeOf, typeHeadBytes } from "./file-type.ts";
import type { Library } from "./library.ts";

type Parts = {
  readonly library: Library;
  readonly extract: Documents["extract"];
  readonly isDocument: (workspace: Workspace, file: FileStat) => Promise<boolean>;
  readonly clock: Clock;
};

/** What is known of a file, and with some patience also what becomes known meanwhile. */
export function openDescribe({ library, extract, isDocument, clock }: Parts): Documents["describe"] {
  return async (workspace, path, { waitMs, signal }) => {
    const head = await workspace.read(path, { bytesMax: typeHeadBytes });
    if (!head.ok) return head;
    const { stat, bytes } = head.value;
    const { type, isText } = fileTypeOf(posix.basename(stat.path), bytes);
    const endsAt = clock.monotonic() + waitMs;
    const leftMs = () => Math.max(0, endsAt - clock.monotonic());
    if (!(await isDocument(workspace, stat))) {
      const nothing = { stat, type, indexing: undefined, receipt: undefined, failure: undefined };
      return isText && waitMs > 0
        ? ok({ ...nothing, ...(await read(workspace, stat, leftMs(), signal)) })
        : ok(nothing);
    }
    const wanted = library.want(workspace, stat, { isAwaited: waitMs > 0 });
    const isOver = new AbortController();
    await Promise.race([wanted.ended, clock.wait(leftMs(), AbortSignal.any([signal, isOver.signal]))]);
    isOver.abort();
    const { failure, receipt, ...indexing } = wanted.now();
    return ok({ stat, type, indexing, receipt, failure });
  };

  /** Only for the receipt. What takes longer than there is patience has none yet. */
  async function read(workspace: Workspace, { path }: FileStat, waitMs: number, signal: AbortSignal) {
    const late = new AbortController();
    const cancel = clock.after(waitMs, () => late.abort());
    const extracted = await extract(workspace, path, { signal: AbortSignal.any([signal, late.signal]) });
    cancel();
    if (extracted.ok) return { receipt: extracted.value.receipt, failure: undefined };
    const isLate = extracted.failure.code === "document_stopped";
    return { receipt: undefined, failure: isLate ? undefined : extracted.failure };
  }
}
