import { systemClock } from "../../src/base/clock.ts";
import type { Block } from "../../src/extract/extracted.ts";
import { openSearch } from "../../src/search/search.ts";
import { file } from "../world/search.ts";

export const pagesOfEdition = 1_500;

/** Long enough to be written in several pieces; each page knows its edition. */
function editionOf(edition: number): { readonly blocks: readonly Block[] } {
  return {
    blocks: Array.from({ length: pagesOfEdition }, (_, index) => ({
      kind: "heading" as const,
      level: 1,
      text: `chapter${index} of edition${edition}`,
      from: { page: index + 1 },
    })),
  };
}

/** Replaces a book by its next edition, over and over, and says how far it is: whoever started it kills it somewhere. */
async function replaceForEver(path: string, first: number): Promise<never> {
  const opened = openSearch({ file: path, clock: systemClock });
  if (!opened.ok) throw new Error(opened.failure.code);
  for (let edition = first; ; edition += 1) {
    const onProgress = (share: number) => console.log(`at ${edition} ${share}`);
    const put = await opened.value.put(file("ann", "book"), `edition ${edition}`, editionOf(edition), { onProgress });
    console.log(put.ok ? `done ${edition}` : JSON.stringify(put.failure));
  }
}

if (import.meta.main) await replaceForEver(process.argv[2] ?? "", Number(process.argv[3]));
