import { inBackground } from "../base/background.ts";
import type { Clock } from "../base/clock.ts";
import { ok } from "../base/result.ts";
import { openExtractor } from "../extract/extract.ts";
import type { Logger } from "../observe/observe.ts";
import { failure } from "../protocol/failure.ts";
import type { Search } from "../search/search.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { openDescribe } from "./describe.ts";
import type { Documents, PassageHit, SearchResult } from "./documents.ts";
import { type FoundInDocuments, openDocumentSearch } from "./find-in-documents.ts";
import { openFileTests } from "./is-document.ts";
import { openLibrary } from "./library.ts";
import { openTextSearch, type TextResult } from "./search.ts";
import { openTakeUp } from "./take-up.ts";
import { openView } from "./view.ts";

type Parts = {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Closed by whoever opened it. Nothing of it is opened before the first document is met. */
  readonly search: Search;
};

export function openDocuments({ clock, logger, search }: Parts): Documents {
  const texts = openTextSearch({ clock, logger });
  const extractor = openExtractor({ clock, logger });
  const library = openLibrary({ search, extractor, logger });
  const tests = openFileTests();
  const { isDocument } = tests;
  const findInDocuments = openDocumentSearch({ library, search, clock, isDocument });

  const notice = async (workspace: Workspace, path: string) => {
    const stat = await workspace.stat(path);
    if (stat.ok && (await isDocument(workspace, stat.value))) library.want(workspace, stat.value, { isAwaited: false });
  };

  const extract: Documents["extract"] = async (workspace, path, options) => {
    const stat = await workspace.stat(path);
    if (!stat.ok) return stat;
    const opened = await workspace.openDescriptor(path);
    if (!opened.ok) return opened;
    if (opened.value === undefined) return failure("not_a_file", { path });
    const { fd, path: inside, close } = opened.value;
    try {
      const source = { name: stat.value.path, root: fd, path: inside, sizeBytes: stat.value.bytes };
      return await extractor.extract(source, options);
    } finally {
      // Not before the thread is done with it: the number could by then stand for another folder.
      close();
    }
  };

  return {
    extract,
    ...openTakeUp({ library, tests }),
    ...openView({ extract, clock }),
    describe: openDescribe({ library, extract, isDocument, clock }),
    async search(workspace, query) {
      const [lines, passages] = await Promise.all([texts.search(workspace, query), findInDocuments(workspace, query)]);
      if (!lines.ok) return lines;
      return passages.ok ? ok(together(lines.value, passages.value, query.hitsMax)) : passages;
    },
    notice(workspace, path) {
      void inBackground(logger, "a file could not be looked at for the index", notice(workspace, path));
    },
    forget(workspace, path) {
      void inBackground(logger, "a file could not be taken out of the index", library.forget(workspace, path));
    },
    async tidy() {
      if (!search.isMade()) return;
      const swept = await search.sweep();
      if (!swept.ok) return void logger.warn("the index could not be tidied", { ...swept.failure.params });
      if (swept.value === 0) return;
      library.doubt();
      logger.info("unused documents were taken out of the index", { documents: swept.value });
    },
    async close() {
      await library.close();
      await Promise.all([texts.close(), extractor.close()]);
    },
  };
}

/** Where both found more than there is room for, each has half of it. */
function together(lines: TextResult, passages: FoundInDocuments, hitsMax: number): SearchResult {
  const { documents, hits, total, stopped, ...rest } = passages;
  const half = Math.floor(hitsMax / 2);
  const linesShown = lines.hits.slice(0, Math.max(half, hitsMax - hits.length));
  const passagesShown: readonly PassageHit[] = hits.slice(0, hitsMax - linesShown.length);
  const met = documents + rest.unsearched.length;
  return {
    hits: [...linesShown, ...passagesShown],
    total: lines.total + total,
    filesSearched: lines.filesSearched + documents,
    // To the scan of texts a document is a file that is none.
    filesSkipped: Math.max(0, lines.filesSkipped - met),
    stopped: lines.stopped ?? stopped,
    ...rest,
  };
}
