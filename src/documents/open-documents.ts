import type { Clock } from "../base/clock.ts";
import { openExtractor } from "../extract/extract.ts";
import type { Logger } from "../observe/observe.ts";
import { failure } from "../protocol/failure.ts";
import type { Documents } from "./documents.ts";
import { openTextSearch } from "./search.ts";

export function openDocuments({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }): Documents {
  const texts = openTextSearch({ clock });
  const extractor = openExtractor({ clock, logger });
  return {
    search: texts.search,
    async extract(workspace, path, options) {
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
    },
    async close() {
      await Promise.all([texts.close(), extractor.close()]);
    },
  };
}
