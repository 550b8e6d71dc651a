import { ok, type Result } from "../base/result.ts";
import type { Failure } from "../protocol/failure.ts";
import type { FileFailure, Workspace } from "../workspace/workspace.ts";
import type { LineHit, SearchQuery, SearchResult } from "./documents.ts";
import { plansFor } from "./query.ts";
import { countsOf, newProgress } from "./scan.ts";
import { openScanThread, type Parts } from "./scan-thread.ts";

/** What a scan of all texts found. `filesSkipped`: what is no text, or cannot be read. */
export type TextResult = Pick<SearchResult, "total" | "filesSearched" | "filesSkipped" | "stopped"> & {
  readonly hits: readonly LineHit[];
};

export type TextSearch = {
  search(
    workspace: Workspace,
    query: SearchQuery,
  ): Promise<Result<TextResult, FileFailure | Failure<"pattern_invalid">>>;
  close(): Promise<void>;
};

/** Searches run one after another in a thread of their own. */
export function openTextSearch(parts: Parts): TextSearch {
  const thread = openScanThread(parts);
  const closing = new AbortController();
  const inTurn = openTurns();

  return {
    async search(workspace, { signal, ...query }) {
      const plans = plansFor(query.query, query.isRegex);
      if (!plans.ok) return plans;
      const stat = await workspace.stat(query.path);
      if (!stat.ok && stat.failure.code !== "file_not_found") return stat;
      const root = await workspace.openDescriptor(query.path);
      if (!root.ok) return root;
      if (root.value === undefined) return ok(nothing);
      try {
        if (!stat.ok) return stat;
        const hits: LineHit[] = [];
        const progress = newProgress();
        const { hitsMax, contextCharacters } = query;
        const { fd, path, prefix } = root.value;
        const where = { root: fd, path };
        const job = { ...where, plans: plans.value, hitsMax, contextCharacters, progress };
        const stop = AbortSignal.any([signal, closing.signal]);
        const found = (hit: LineHit) => void hits.push({ ...hit, path: prefix + hit.path });
        const ending = await inTurn(stop, () => thread.scan(job, { stop, found }));
        const stopped = ending === undefined ? "time" : ending.stopped;
        return ok({ hits: hits.sort(inOrder), ...countsOf(progress), stopped });
      } finally {
        // Not before the thread is done with it: the number could by then stand for another folder.
        root.value.close();
      }
    },

    async close() {
      closing.abort();
      await inTurn(new AbortController().signal, thread.end);
    },
  };
}

const nothing: TextResult = { hits: [], total: 0, filesSearched: 0, filesSkipped: 0, stopped: undefined };

/** Work waits until what came before is through; with undefined when nobody wants it any more by then. */
function openTurns() {
  let last: Promise<unknown> = Promise.resolve();
  return async <T>(stop: AbortSignal, work: () => Promise<T>): Promise<T | undefined> => {
    const before = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = before.then(() => promise);
    try {
      await Promise.race([before, aborted(stop)]);
      return stop.aborted ? undefined : await work();
    } finally {
      resolve();
    }
  };
}

function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", resolve, { once: true });
  });
}

/** Places in one line were found in their order, and stay in it. */
function inOrder(one: LineHit, other: LineHit): number {
  if (one.path === other.path) return one.line - other.line;
  return one.path < other.path ? -1 : 1;
}
