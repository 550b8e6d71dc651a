import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { type Documents, openDocuments } from "../../src/documents/documents.ts";
import type { Logger } from "../../src/observe/observe.ts";
import { openSearch } from "../../src/search/search.ts";
import { quietLogger } from "./workspace.ts";

/** Real documents with an index of their own, which is made when the first one is met and gone after `close`. */
export function testDocuments({
  clock = systemClock,
  logger = quietLogger([]),
}: {
  readonly clock?: typeof systemClock;
  readonly logger?: Logger;
} = {}): Documents {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-documents-"));
  const opened = openSearch({ file: join(folder, "indexes.db"), clock });
  if (!opened.ok) throw new Error(opened.failure.code);
  const documents = openDocuments({ clock, logger, search: opened.value });
  return {
    ...documents,
    async close() {
      await documents.close();
      await opened.value.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
